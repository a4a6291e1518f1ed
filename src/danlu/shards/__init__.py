"""Documents to files of token ids, and back: what is written once and read by every training."""
