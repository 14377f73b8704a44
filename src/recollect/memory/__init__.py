"""`Memory`, through which every surface calls the rooms: verbs of every day, and one facet per noun."""

from recollect.memory.memory import Memory

__all__ = ["Memory"]
