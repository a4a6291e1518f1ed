"""Measuring a document, then deciding whether it stays."""
