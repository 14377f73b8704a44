"""The first tables: learnings and where they come from, what is searched, what changed, who holds a lease."""

STATEMENTS = (
    """
    CREATE TABLE outcomes (
      space $text NOT NULL, id $text NOT NULL, name $text NOT NULL, created_at $int NOT NULL,
      PRIMARY KEY (space, id)
    ) $table""",
    """
    CREATE TABLE tasks (
      space $text NOT NULL, id $text NOT NULL, outcome_id $text, title $text NOT NULL, created_at $int NOT NULL,
      PRIMARY KEY (space, id),
      FOREIGN KEY (space, outcome_id) REFERENCES outcomes (space, id)
    ) $table""",
    """
    CREATE TABLE learnings (
      space $text NOT NULL, id $text NOT NULL,
      title $text NOT NULL CHECK (length(title) BETWEEN 1 AND 100),
      context $text NOT NULL, observation $text NOT NULL, implication $text NOT NULL, action $text NOT NULL,
      domain $text,
      pattern_type $text NOT NULL CHECK (pattern_type IN ('solution', 'gotcha', 'best-practice', 'constraint')),
      confidence $int NOT NULL CHECK (confidence BETWEEN 0 AND 1000),
      times_injected $int NOT NULL DEFAULT 0 CHECK (times_injected >= 0),
      times_helpful $int NOT NULL DEFAULT 0 CHECK (times_helpful >= 0),
      times_not_helpful $int NOT NULL DEFAULT 0 CHECK (times_not_helpful >= 0),
      recurrence $int NOT NULL DEFAULT 1 CHECK (recurrence >= 1),
      status $text NOT NULL CHECK (status IN ('active', 'archived', 'superseded')),
      superseded_by $text,
      pinned $int NOT NULL DEFAULT 0 CHECK (pinned IN (0, 1)),
      origin $text NOT NULL,
      trust $text NOT NULL CHECK (trust IN ('human', 'agent', 'external')),
      version $int NOT NULL DEFAULT 1,
      source_outcome_id $text, source_task_id $text, source_discovery_id $text,
      created_at $int NOT NULL, updated_at $int NOT NULL,
      last_injected_at $int, last_helpful_at $int, last_decayed_at $int,
      PRIMARY KEY (space, id),
      CHECK ((status = 'superseded') = (superseded_by IS NOT NULL)),
      FOREIGN KEY (space, superseded_by) REFERENCES learnings (space, id),
      FOREIGN KEY (space, source_outcome_id) REFERENCES outcomes (space, id),
      FOREIGN KEY (space, source_task_id) REFERENCES tasks (space, id)
    ) $table""",
    "CREATE INDEX learnings_by_age ON learnings (space, status, created_at)",
    "CREATE INDEX learnings_by_successor ON learnings (space, superseded_by) WHERE superseded_by IS NOT NULL",
    """
    CREATE TABLE learning_tags (
      space $text NOT NULL, learning_id $text NOT NULL, position $int NOT NULL, tag $text NOT NULL,
      PRIMARY KEY (space, learning_id, position),
      FOREIGN KEY (space, learning_id) REFERENCES learnings (space, id)
    ) $table""",
    "CREATE INDEX learning_tags_by_tag ON learning_tags (space, tag)",
    """
    CREATE TABLE learning_sources (
      space $text NOT NULL, learning_id $text NOT NULL, position $int NOT NULL,
      outcome_id $text, task_id $text, discovery_id $text, origin $text NOT NULL, trust $text NOT NULL,
      at $int NOT NULL,
      PRIMARY KEY (space, learning_id, position),
      FOREIGN KEY (space, learning_id) REFERENCES learnings (space, id)
    ) $table""",
    """
    CREATE TABLE discoveries (
      space $text NOT NULL, id $text NOT NULL,
      type $text NOT NULL CHECK (type IN ('blocker', 'constraint', 'pattern', 'decision', 'dependency')),
      content $text NOT NULL, hash $text NOT NULL, task_id $text NOT NULL, outcome_id $text, created_at $int NOT NULL,
      learning_id $text, skipped $text,
      PRIMARY KEY (space, id),
      UNIQUE (space, task_id, hash),
      FOREIGN KEY (space, task_id) REFERENCES tasks (space, id)
    ) $table""",
    """
    CREATE TABLE injections (
      space $text NOT NULL, learning_id $text NOT NULL, task_id $text NOT NULL, outcome_id $text NOT NULL,
      injected_at $int NOT NULL,
      feedback $text CHECK (feedback IN ('helpful', 'not_helpful')),
      feedback_at $int, feedback_trust $text, feedback_delta $int,
      PRIMARY KEY (space, learning_id, task_id),
      FOREIGN KEY (space, learning_id) REFERENCES learnings (space, id),
      FOREIGN KEY (space, task_id) REFERENCES tasks (space, id)
    ) $table""",
    "CREATE INDEX injections_by_task ON injections (space, task_id)",
    "CREATE INDEX injections_by_time ON injections (space, injected_at)",
    """
    CREATE TABLE escalations (
      space $text NOT NULL, number $int NOT NULL, kind $text NOT NULL, subject $text NOT NULL, other $text NOT NULL,
      reason $text NOT NULL, detail $text NOT NULL, created_at $int NOT NULL, resolved_at $int, resolution $text,
      PRIMARY KEY (space, number),
      UNIQUE (space, kind, subject, other)
    ) $table""",
    """
    CREATE TABLE answers (
      space $text NOT NULL, kind $text NOT NULL, version $text NOT NULL, source_hash $text NOT NULL,
      generator $text NOT NULL, answer $text NOT NULL, created_at $int NOT NULL,
      PRIMARY KEY (space, kind, version, source_hash)
    ) $table""",
    """
    CREATE TABLE leases (
      space $text NOT NULL, name $text NOT NULL, owner $text NOT NULL, fence $int NOT NULL, expires_at $int NOT NULL,
      PRIMARY KEY (space, name)
    ) $table""",
    """
    CREATE TABLE events (
      seq $key, space $text NOT NULL, change_id $text NOT NULL, at $int NOT NULL, subject $text NOT NULL,
      what $text NOT NULL, who $text NOT NULL, channel $text NOT NULL, trust $text NOT NULL,
      old_values $text NOT NULL, new_values $text NOT NULL, reason $text NOT NULL
    ) $table""",
    "CREATE INDEX events_by_subject ON events (space, subject, seq)",
    "CREATE INDEX events_by_change ON events (space, change_id)",
    """
    CREATE TABLE passages (
      doc $key, space $text NOT NULL, id $text NOT NULL, kind $text NOT NULL, title $text NOT NULL, text $text NOT NULL,
      keywords $text NOT NULL, who $text NOT NULL, at $int NOT NULL, trust $text NOT NULL, thread $text NOT NULL,
      position $int NOT NULL, hash $text NOT NULL, terms $text NOT NULL,
      UNIQUE (space, id)
    ) $table""",
    "CREATE INDEX passages_by_thread ON passages (space, thread, position) WHERE thread <> ''",
    """
    CREATE TABLE terms (
      space $text NOT NULL, term $text NOT NULL, docs $int NOT NULL,
      PRIMARY KEY (space, term)
    ) $table""",
)
