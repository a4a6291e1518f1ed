"""The small run, for this folder's tests."""

from small_run import prepared, python, small

__all__ = ["prepared", "python", "small"]
