"""The trainer: loop.py first, then step.py, assemble.py, state.py."""
