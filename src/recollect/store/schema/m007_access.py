"""Who may speak to the server, and what was answered to requests that may come twice."""

STATEMENTS = (
    """
    CREATE TABLE tokens (
      space $text NOT NULL, id $text NOT NULL, name $text NOT NULL, channel $text NOT NULL,
      read_only $int NOT NULL CHECK (read_only IN (0, 1)), hash $text NOT NULL, made_by $text NOT NULL,
      created_at $int NOT NULL, revoked_at $int,
      PRIMARY KEY (space, id)
    ) $table""",
    "CREATE UNIQUE INDEX tokens_by_hash ON tokens (space, hash)",
    """
    CREATE TABLE requests (
      space $text NOT NULL, caller $text NOT NULL, request_key $text NOT NULL, hash $text NOT NULL,
      status $int NOT NULL, answer $text NOT NULL, headers $text NOT NULL, created_at $int NOT NULL,
      PRIMARY KEY (space, caller, request_key)
    ) $table""",
    "CREATE INDEX requests_by_time ON requests (space, created_at)",
)
