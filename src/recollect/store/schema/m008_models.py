"""Models: what they used, who is asking one right now, and the asks that wait for an agent's answer."""

STATEMENTS = (
    """
    CREATE TABLE asks (
      space $text NOT NULL, id $text NOT NULL, kind $text NOT NULL, prompt $text NOT NULL, version $text NOT NULL,
      source_hash $text NOT NULL, subject $text NOT NULL, sources $text NOT NULL, max_tokens $int NOT NULL,
      opened_at $int NOT NULL, answered_at $int,
      PRIMARY KEY (space, id)
    ) $table""",
    "CREATE INDEX asks_by_subject ON asks (space, kind, subject)",
    """
    CREATE TABLE ask_claims (
      space $text NOT NULL, id $text NOT NULL, owner $text NOT NULL, expires_at $int NOT NULL,
      day $text NOT NULL, kind $text NOT NULL, generator $text NOT NULL, reserved $int NOT NULL,
      PRIMARY KEY (space, id)
    ) $table""",
    """
    CREATE TABLE model_usage (
      space $text NOT NULL, day $text NOT NULL, kind $text NOT NULL, generator $text NOT NULL,
      calls $int NOT NULL, input_tokens $int NOT NULL, output_tokens $int NOT NULL, cost_micros $int NOT NULL,
      fallbacks $int NOT NULL,
      PRIMARY KEY (space, day, kind, generator)
    ) $table""",
)
