"""Strings in, strings out. Knows nothing about where a text came from or goes."""
