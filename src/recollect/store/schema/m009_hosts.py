"""What hosts told us of their sessions: how far each transcript was read, and what each session was given."""

STATEMENTS = (
    """
    CREATE TABLE host_sessions (
      space $text NOT NULL, id $text NOT NULL, host $text NOT NULL, began_at $int NOT NULL,
      context_at $int NOT NULL, transcript $text NOT NULL, place $int NOT NULL,
      PRIMARY KEY (space, id)
    ) $table""",
    """
    CREATE TABLE host_events (
      space $text NOT NULL, id $text NOT NULL, session $text NOT NULL, event $text NOT NULL, at $int NOT NULL,
      given $text NOT NULL,
      PRIMARY KEY (space, id)
    ) $table""",
    "CREATE INDEX host_events_by_session ON host_events (space, session, at)",
    "CREATE INDEX host_events_by_time ON host_events (space, at)",
)
