-- Every table of the first schema that is upgraded, without those that nothing uses any more.

-- Learnings and where they come from, what is searched, what changed, who holds a lease. A lease that was taken
-- later than now is from a clock that was ahead, and has expired.
CREATE TABLE outcomes (
  space $text NOT NULL, id $text NOT NULL, name $text NOT NULL, created_at $int NOT NULL,
  PRIMARY KEY (space, id)
) $table;

CREATE TABLE tasks (
  space $text NOT NULL, id $text NOT NULL, outcome_id $text, title $text NOT NULL, created_at $int NOT NULL,
  PRIMARY KEY (space, id),
  FOREIGN KEY (space, outcome_id) REFERENCES outcomes (space, id)
) $table;

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
) $table;
CREATE INDEX learnings_by_age ON learnings (space, status, created_at);
CREATE INDEX learnings_by_successor ON learnings (space, superseded_by) WHERE superseded_by IS NOT NULL;

CREATE TABLE learning_tags (
  space $text NOT NULL, learning_id $text NOT NULL, position $int NOT NULL, tag $text NOT NULL,
  PRIMARY KEY (space, learning_id, position),
  FOREIGN KEY (space, learning_id) REFERENCES learnings (space, id)
) $table;
CREATE INDEX learning_tags_by_tag ON learning_tags (space, tag);

CREATE TABLE learning_sources (
  space $text NOT NULL, learning_id $text NOT NULL, position $int NOT NULL,
  outcome_id $text, task_id $text, discovery_id $text, origin $text NOT NULL, trust $text NOT NULL,
  at $int NOT NULL,
  PRIMARY KEY (space, learning_id, position),
  FOREIGN KEY (space, learning_id) REFERENCES learnings (space, id)
) $table;

CREATE TABLE discoveries (
  space $text NOT NULL, id $text NOT NULL,
  type $text NOT NULL CHECK (type IN ('blocker', 'constraint', 'pattern', 'decision', 'dependency')),
  content $text NOT NULL, hash $text NOT NULL, task_id $text NOT NULL, outcome_id $text, created_at $int NOT NULL,
  learning_id $text, skipped $text,
  PRIMARY KEY (space, id),
  UNIQUE (space, task_id, hash),
  FOREIGN KEY (space, task_id) REFERENCES tasks (space, id)
) $table;

CREATE TABLE injections (
  space $text NOT NULL, learning_id $text NOT NULL, task_id $text NOT NULL, outcome_id $text NOT NULL,
  injected_at $int NOT NULL,
  feedback $text CHECK (feedback IN ('helpful', 'not_helpful')),
  feedback_at $int, feedback_trust $text, feedback_delta $int,
  PRIMARY KEY (space, learning_id, task_id),
  FOREIGN KEY (space, learning_id) REFERENCES learnings (space, id),
  FOREIGN KEY (space, task_id) REFERENCES tasks (space, id)
) $table;
CREATE INDEX injections_by_task ON injections (space, task_id);
CREATE INDEX injections_by_time ON injections (space, injected_at);

CREATE TABLE escalations (
  space $text NOT NULL, number $int NOT NULL, kind $text NOT NULL, subject $text NOT NULL, other $text NOT NULL,
  reason $text NOT NULL, detail $text NOT NULL, created_at $int NOT NULL, resolved_at $int, resolution $text,
  PRIMARY KEY (space, number),
  UNIQUE (space, kind, subject, other)
) $table;

CREATE TABLE answers (
  space $text NOT NULL, kind $text NOT NULL, version $text NOT NULL, source_hash $text NOT NULL,
  generator $text NOT NULL, answer $text NOT NULL, created_at $int NOT NULL,
  PRIMARY KEY (space, kind, version, source_hash)
) $table;

CREATE TABLE leases (
  space $text NOT NULL, name $text NOT NULL, owner $text NOT NULL, fence $int NOT NULL, expires_at $int NOT NULL,
  taken_at $int NOT NULL DEFAULT 0,
  PRIMARY KEY (space, name)
) $table;

CREATE TABLE events (
  seq $key, space $text NOT NULL, change_id $text NOT NULL, at $int NOT NULL, subject $text NOT NULL,
  what $text NOT NULL, who $text NOT NULL, channel $text NOT NULL, trust $text NOT NULL,
  old_values $text NOT NULL, new_values $text NOT NULL, reason $text NOT NULL
) $table;
CREATE INDEX events_by_subject ON events (space, subject, seq);
CREATE INDEX events_by_change ON events (space, change_id);

CREATE TABLE passages (
  doc $key, space $text NOT NULL, id $text NOT NULL, kind $text NOT NULL, title $text NOT NULL, text $text NOT NULL,
  keywords $text NOT NULL, who $text NOT NULL, at $int NOT NULL, trust $text NOT NULL, thread $text NOT NULL,
  position $int NOT NULL, hash $text NOT NULL, terms $text NOT NULL,
  UNIQUE (space, id)
) $table;
CREATE INDEX passages_by_thread ON passages (space, thread, position) WHERE thread <> '';

CREATE TABLE terms (
  space $text NOT NULL, term $text NOT NULL, docs $int NOT NULL,
  PRIMARY KEY (space, term)
) $table;

-- The vault of a team's store: an append to a file is one row, a file is its rows in order.
CREATE TABLE vault_parts (
  space $text NOT NULL, path $text NOT NULL, position $int NOT NULL, text $text NOT NULL,
  PRIMARY KEY (space, path, position)
) $table;

-- Decisions, and what is derived from them: wording of summaries, wisdom.
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
) $table;
CREATE INDEX decisions_by_time ON decisions (space, decided_at, id);
CREATE INDEX decisions_held ON decisions (space, decided_at, id) WHERE preserve = 1 OR outcome IS NULL;

CREATE TABLE decision_tags (
  space $text NOT NULL, decision_id $text NOT NULL, position $int NOT NULL, tag $text NOT NULL,
  PRIMARY KEY (space, decision_id, position),
  FOREIGN KEY (space, decision_id) REFERENCES decisions (space, id)
) $table;
CREATE INDEX decision_tags_by_tag ON decision_tags (space, tag);

CREATE TABLE decision_wordings (
  space $text NOT NULL, decision_id $text NOT NULL, level $text NOT NULL CHECK (level IN ('summary', 'digest')),
  version $int NOT NULL, wording $text NOT NULL, generator $text NOT NULL,
  PRIMARY KEY (space, decision_id, level),
  FOREIGN KEY (space, decision_id) REFERENCES decisions (space, id)
) $table;

CREATE TABLE decision_wisdom (
  space $text NOT NULL, scope $text NOT NULL, made_for $int NOT NULL, valid_until $int NOT NULL,
  wisdom $text NOT NULL,
  PRIMARY KEY (space, scope)
) $table;

-- Themes of findings: their names and homes are rows; raw findings, theme files and the index are files.
CREATE TABLE finding_files (
  space $text NOT NULL, path $text NOT NULL, sha $text NOT NULL, processed_at $int NOT NULL,
  PRIMARY KEY (space, path)
) $table;

CREATE TABLE themes (
  space $text NOT NULL, name $text NOT NULL,
  named_by $text NOT NULL CHECK (named_by IN ('machine', 'human')),
  summary $text NOT NULL, work_ids $text NOT NULL, left_out $text NOT NULL,
  inherited $text NOT NULL, inherited_units $text NOT NULL,
  file_hash $text NOT NULL, before_hash $text NOT NULL,
  PRIMARY KEY (space, name)
) $table;

CREATE TABLE theme_findings (
  space $text NOT NULL, finding_id $text NOT NULL, theme $text NOT NULL, text_hash $text NOT NULL,
  PRIMARY KEY (space, finding_id),
  FOREIGN KEY (space, theme) REFERENCES themes (space, name)
) $table;
CREATE INDEX theme_findings_by_theme ON theme_findings (space, theme);

-- What the tree knows of its files: logs as last read, nodes as last made, the day each session began. All but the
-- sessions can be deleted and is made again from the vault.
CREATE TABLE sessions (
  space $text NOT NULL, id $text NOT NULL, day $text NOT NULL,
  PRIMARY KEY (space, id)
) $table;

CREATE TABLE logs (
  space $text NOT NULL, day $text NOT NULL, stamp $text NOT NULL, hash $text NOT NULL, entries $int NOT NULL,
  PRIMARY KEY (space, day)
) $table;

CREATE TABLE nodes (
  space $text NOT NULL, id $text NOT NULL, level $text NOT NULL, first_day $text NOT NULL,
  status $text NOT NULL CHECK (status IN ('tentative', 'fixed')),
  source_key $text NOT NULL, body_hash $text NOT NULL, generator $text NOT NULL,
  topics $text NOT NULL, incomplete $text NOT NULL, capsule $text NOT NULL, tokens $int NOT NULL,
  waiting $int NOT NULL CHECK (waiting IN (0, 1)), made_at $int NOT NULL,
  PRIMARY KEY (space, id)
) $table;
CREATE INDEX nodes_by_day ON nodes (space, level, first_day);
CREATE INDEX nodes_by_status ON nodes (space, status, level);

CREATE TABLE tree_state (
  space $text NOT NULL, name $text NOT NULL, value $text NOT NULL,
  PRIMARY KEY (space, name)
) $table;

-- Vectors beside passages: one row per piece of a passage and model. They go when their passage goes. `$vector` is
-- the engine's own type; `$vector_index` is how the engine finds the nearest of them.
CREATE TABLE vector_models (
  space $text NOT NULL, model $text NOT NULL, number $int NOT NULL, dimensions $int NOT NULL,
  used_at $int NOT NULL,
  PRIMARY KEY (space, model),
  UNIQUE (space, number)
) $table;

CREATE TABLE vectors (
  number $key, doc $int NOT NULL REFERENCES passages (doc) ON DELETE CASCADE,
  model $int NOT NULL, piece $int NOT NULL,
  space $text NOT NULL, kind $text NOT NULL, hash $text NOT NULL, vector $vector NOT NULL,
  UNIQUE (doc, model, piece)
) $table;
CREATE INDEX vectors_by_piece ON vectors (space, model, piece, doc);
$vector_index;

-- Who may speak to the server.
CREATE TABLE tokens (
  space $text NOT NULL, id $text NOT NULL, name $text NOT NULL, channel $text NOT NULL,
  read_only $int NOT NULL CHECK (read_only IN (0, 1)), hash $text NOT NULL, made_by $text NOT NULL,
  created_at $int NOT NULL, revoked_at $int,
  PRIMARY KEY (space, id)
) $table;
CREATE UNIQUE INDEX tokens_by_hash ON tokens (space, hash);

-- Models: what they used, who is asking one right now, and the asks that wait for an agent's answer.
CREATE TABLE asks (
  space $text NOT NULL, id $text NOT NULL, kind $text NOT NULL, prompt $text NOT NULL, version $text NOT NULL,
  source_hash $text NOT NULL, subject $text NOT NULL, sources $text NOT NULL, max_tokens $int NOT NULL,
  opened_at $int NOT NULL, answered_at $int,
  PRIMARY KEY (space, id)
) $table;
CREATE INDEX asks_by_subject ON asks (space, kind, subject);

CREATE TABLE ask_claims (
  space $text NOT NULL, id $text NOT NULL, owner $text NOT NULL, expires_at $int NOT NULL,
  day $text NOT NULL, kind $text NOT NULL, generator $text NOT NULL, reserved $int NOT NULL,
  taken_at $int NOT NULL DEFAULT 0,
  PRIMARY KEY (space, id)
) $table;

CREATE TABLE model_usage (
  space $text NOT NULL, day $text NOT NULL, kind $text NOT NULL, generator $text NOT NULL,
  calls $int NOT NULL, input_tokens $int NOT NULL, output_tokens $int NOT NULL, cost_micros $int NOT NULL,
  fallbacks $int NOT NULL,
  PRIMARY KEY (space, day, kind, generator)
) $table;

-- What hosts told us of their sessions: how far each transcript was read, and what each session was given.
CREATE TABLE host_sessions (
  space $text NOT NULL, id $text NOT NULL, host $text NOT NULL, began_at $int NOT NULL,
  context_at $int NOT NULL, transcript $text NOT NULL, place $int NOT NULL,
  PRIMARY KEY (space, id)
) $table;

CREATE TABLE host_events (
  space $text NOT NULL, id $text NOT NULL, session $text NOT NULL, event $text NOT NULL, at $int NOT NULL,
  given $text NOT NULL,
  PRIMARY KEY (space, id)
) $table;
CREATE INDEX host_events_by_session ON host_events (space, session, at);
CREATE INDEX host_events_by_time ON host_events (space, at);

-- What each clone read in from its own files.
CREATE INDEX passages_by_kind ON passages (space, kind, at, trust);

CREATE TABLE readings (
  space $text NOT NULL, clone $text NOT NULL, source $text NOT NULL, stamp $text NOT NULL, ids $text NOT NULL,
  at $int NOT NULL,
  PRIMARY KEY (space, clone, source)
) $table;
