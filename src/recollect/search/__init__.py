"""Query in, ranked hits out.

Knows nothing about who asks and why; what is found is not changed by finding it.
"""
