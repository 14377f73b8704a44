"""What the tree knows of its files: logs as last read, nodes as last made, the day each session began.

All but the sessions can be deleted and is made again from the vault.
"""

STATEMENTS = (
    """
    CREATE TABLE sessions (
      space $text NOT NULL, id $text NOT NULL, day $text NOT NULL,
      PRIMARY KEY (space, id)
    ) $table""",
    """
    CREATE TABLE logs (
      space $text NOT NULL, day $text NOT NULL, stamp $text NOT NULL, hash $text NOT NULL, entries $int NOT NULL,
      PRIMARY KEY (space, day)
    ) $table""",
    """
    CREATE TABLE nodes (
      space $text NOT NULL, id $text NOT NULL, level $text NOT NULL, first_day $text NOT NULL,
      status $text NOT NULL CHECK (status IN ('tentative', 'fixed')),
      source_key $text NOT NULL, body_hash $text NOT NULL, generator $text NOT NULL,
      topics $text NOT NULL, incomplete $text NOT NULL, capsule $text NOT NULL, tokens $int NOT NULL,
      waiting $int NOT NULL CHECK (waiting IN (0, 1)), made_at $int NOT NULL,
      PRIMARY KEY (space, id)
    ) $table""",
    "CREATE INDEX nodes_by_day ON nodes (space, level, first_day)",
    "CREATE INDEX nodes_by_status ON nodes (space, status, level)",
    """
    CREATE TABLE tree_state (
      space $text NOT NULL, name $text NOT NULL, value $text NOT NULL,
      PRIMARY KEY (space, name)
    ) $table""",
)
