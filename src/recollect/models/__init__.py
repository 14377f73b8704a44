"""The one way to a model: `ask()` for words, `embed` for vectors.

Without a model the caller's offline answer is used. Knows nothing about what an answer is for.
"""
