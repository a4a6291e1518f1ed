"""Receives numbers: metrics, events, memory; never reaches into the trainer."""
