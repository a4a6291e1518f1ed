"""Ids to inputs, labels and who may attend to whom."""
