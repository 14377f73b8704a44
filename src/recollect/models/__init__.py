"""The one way to a model: `ask()` for words, `embed` for vectors.

Without a model, the offline twin that every caller brings answers. Knows nothing about what an answer is for.
"""
