"""Receives numbers: metrics, events, throughput; never reaches into the trainer."""
