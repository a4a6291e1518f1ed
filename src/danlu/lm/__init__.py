"""N-gram language models: training by modified Kneser-Ney smoothing, ARPA files, fast queries, perplexity of texts."""
