"""Documents labelled by people or by a model: which, what was said, how far they agree, how many more are worth it."""
