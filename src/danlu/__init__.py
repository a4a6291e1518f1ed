"""danlu: from raw text to a verified base language model, in one package, one command line, one recipe file."""
