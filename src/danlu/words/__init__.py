"""Splitting a document's text into words, sentences and shingles, once for all the rules that count them."""
