"""Making rows out of what people and agents say: redact, check, compare, keep.

Knows nothing about ranking or rendering.
"""
