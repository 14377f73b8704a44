"""Decisions, and what is derived from them: wording of summaries, wisdom."""

STATEMENTS = (
    """
    CREATE TABLE decisions (
      space $text NOT NULL, id $text NOT NULL,
      decision $text NOT NULL CHECK (length(decision) > 0),
      confidence $int NOT NULL CHECK (confidence BETWEEN 0 AND 1000),
      category $text NOT NULL,
      stakes $text NOT NULL CHECK (stakes IN ('low', 'medium', 'high', 'critical')),
      context $text NOT NULL, reasons $text NOT NULL, pattern $text NOT NULL,
      bridge_structure $text, bridge_function $text, components $text NOT NULL,
      agent $text NOT NULL,
      status $text NOT NULL CHECK (status IN ('active', 'reversed', 'superseded')),
      superseded_by $text, closed_at $int,
      preserve $int NOT NULL DEFAULT 0 CHECK (preserve IN (0, 1)),
      outcome $text CHECK (outcome IN ('success', 'partial', 'failure', 'abandoned')),
      result $text NOT NULL, lesson $text NOT NULL, reviewed_at $int, review_at $int,
      trust $text NOT NULL CHECK (trust IN ('human', 'agent', 'external')),
      version $int NOT NULL DEFAULT 1,
      decided_at $int NOT NULL, created_at $int NOT NULL, updated_at $int NOT NULL,
      PRIMARY KEY (space, id),
      CHECK ((outcome IS NULL) = (reviewed_at IS NULL)),
      CHECK ((status = 'active') = (closed_at IS NULL)),
      CHECK (superseded_by IS NULL OR status = 'superseded'),
      FOREIGN KEY (space, superseded_by) REFERENCES decisions (space, id)
    ) $table""",
    "CREATE INDEX decisions_by_time ON decisions (space, decided_at, id)",
    "CREATE INDEX decisions_held ON decisions (space, decided_at, id) WHERE preserve = 1 OR outcome IS NULL",
    """
    CREATE TABLE decision_tags (
      space $text NOT NULL, decision_id $text NOT NULL, position $int NOT NULL, tag $text NOT NULL,
      PRIMARY KEY (space, decision_id, position),
      FOREIGN KEY (space, decision_id) REFERENCES decisions (space, id)
    ) $table""",
    "CREATE INDEX decision_tags_by_tag ON decision_tags (space, tag)",
    """
    CREATE TABLE decision_wordings (
      space $text NOT NULL, decision_id $text NOT NULL, level $text NOT NULL CHECK (level IN ('summary', 'digest')),
      version $int NOT NULL, wording $text NOT NULL, generator $text NOT NULL,
      PRIMARY KEY (space, decision_id, level),
      FOREIGN KEY (space, decision_id) REFERENCES decisions (space, id)
    ) $table""",
    """
    CREATE TABLE decision_wisdom (
      space $text NOT NULL, scope $text NOT NULL, made_for $int NOT NULL, valid_until $int NOT NULL,
      wisdom $text NOT NULL,
      PRIMARY KEY (space, scope)
    ) $table""",
)
