"""How much may be put in front of an agent at once."""

from __future__ import annotations

from recollect.core.record import record


@record
class Room:
    """What a host lets us say: in characters as it counts them, and for some in tokens."""

    characters: int
    tokens: int | None = None

    def cost(self, line: str) -> int:
        """What a line takes of `characters`, its end included. Hosts count UTF-16 units."""
        size = len(line) + 1 if line.isascii() else len(line.encode("utf-16-le", "surrogatepass")) // 2 + 1
        if self.tokens is None:
            return size
        from recollect.text.tokens import tokens

        return max(size, -(-tokens(line) * self.characters // self.tokens))

    def fits(self, text: str) -> bool:
        return sum(map(self.cost, text.splitlines())) <= self.characters
