<<<<<<< HEAD
"""The one way to a model: `ask()`.

Without a model, the offline twin that every caller brings answers. Knows nothing about what an answer is for.
"""
=======
"""`ask()` and `embed()`: providers and their answers. Knows nothing about what an answer is for."""
>>>>>>> staging
