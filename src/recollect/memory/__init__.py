"""The hall: `Memory`, through which every surface goes.

One facet per noun, at most ten verbs at the top; a method is one call into a room.
"""

from recollect.memory.memory import Memory

__all__ = ["Memory"]
