"""One contract for attention: who may see whom, a slow reference and the fast path."""
