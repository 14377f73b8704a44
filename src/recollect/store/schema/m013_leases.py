"""When leases and claims were taken: one that was taken later than now is from a clock that was ahead, and has expired.

Those that are there were taken at most so long before they expire; one that a wrong clock left behind is free at once.
"""

STATEMENTS = (
    "ALTER TABLE leases ADD COLUMN taken_at $int NOT NULL DEFAULT 0",
    "UPDATE leases SET taken_at = expires_at - 600000 WHERE expires_at > 0",
    "ALTER TABLE ask_claims ADD COLUMN taken_at $int NOT NULL DEFAULT 0",
    "UPDATE ask_claims SET taken_at = expires_at - 3600000",
)
