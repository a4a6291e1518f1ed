"""The account of a corpus: what happened to every document that was read, and what can be learned from it."""
