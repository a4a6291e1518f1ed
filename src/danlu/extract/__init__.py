"""Text out of what wraps it: encodings, markup, records, repositories."""
