"""Ids to shards to packed samples to batches, in a reproducible order."""
