"""Text to ids and back: train, load, encode."""
