"""Strings in, strings out.

Knows nothing about where a string came from or where it goes; an embedder or a judge is passed in as a function.
"""
