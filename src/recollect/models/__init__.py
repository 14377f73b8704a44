"""`ask()` and `embed()`: providers and their answers. Knows nothing about what an answer is for."""
