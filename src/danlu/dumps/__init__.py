"""Dumps of whole sites: streaming XML, Wikipedia's articles, Stack Exchange's questions with their answers."""
