"""What each clone read in from its own files; documents were known once for all clones, so that they undid each other.

Every clone reads its documents in once more.
"""

STATEMENTS = (
    "DROP TABLE documents",
    """
    CREATE TABLE readings (
      space $text NOT NULL, clone $text NOT NULL, source $text NOT NULL, stamp $text NOT NULL, ids $text NOT NULL,
      at $int NOT NULL,
      PRIMARY KEY (space, clone, source)
    ) $table""",
)
