"""Learned scores of texts: what they are trained on, how, the file that a scorer is, and the steps that use it."""
