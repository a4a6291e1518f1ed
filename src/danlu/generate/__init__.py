"""Continuing a prompt."""
