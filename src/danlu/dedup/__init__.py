"""Removing documents that were seen before."""
