"""Ids to packed samples to batches, in a reproducible order."""
