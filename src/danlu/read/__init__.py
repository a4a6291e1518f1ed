"""Bytes to documents: formats, encodings, what was damaged."""
