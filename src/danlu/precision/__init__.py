"""Number formats of the forward and backward pass."""
