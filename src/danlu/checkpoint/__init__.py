"""Saving and loading a run: whole, hashed, verified, retained."""
