"""What search over everything needs: passages by kind and time, and the permanent documents as last read.

A session's entries are one thread from now on; logs count as unread, so that the next cycle writes their passages anew.
"""

STATEMENTS = (
    "CREATE INDEX passages_by_kind ON passages (space, kind, at, trust)",
    """
    CREATE TABLE documents (
      space $text NOT NULL, path $text NOT NULL, stamp $text NOT NULL,
      PRIMARY KEY (space, path)
    ) $table""",
    "UPDATE logs SET stamp = 'unread'",
)
