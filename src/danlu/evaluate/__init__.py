"""How good a model is: loss, perplexity, bits per byte, beside simple baselines."""
