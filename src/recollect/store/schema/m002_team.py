"""What a team's store needs: the vault as rows, and how far a move into this store has come.

An append to a file is one row; a file is its rows in order.
"""

STATEMENTS = (
    """
    CREATE TABLE vault_parts (
      space $text NOT NULL, path $text NOT NULL, position $int NOT NULL, text $text NOT NULL,
      PRIMARY KEY (space, path, position)
    ) $table""",
    """
    CREATE TABLE moves (
      space $text NOT NULL PRIMARY KEY, source $text NOT NULL, reached $text NOT NULL, started_at $int NOT NULL
    ) $table""",
)
