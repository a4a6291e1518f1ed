"""A finished model as a Hugging Face directory, checked by an independent forward pass."""
