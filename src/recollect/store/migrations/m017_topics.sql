-- Topics: what entries are about, under names that last. A name and every alias has a key, by which a topic is found.
--
-- `state` is open or done; an open topic that is not mentioned for long is called dormant when it is read. A merged
-- topic leaves its id behind, which leads to the other. Every log is read once more: its entries get their topics.

CREATE TABLE topics (
  space $text NOT NULL, id $text NOT NULL, name $text NOT NULL,
  state $text NOT NULL CHECK (state IN ('open', 'done')),
  named_by $text NOT NULL CHECK (named_by IN ('offline', 'person', 'model')),
  first_at $int NOT NULL, last_at $int NOT NULL, entries $int NOT NULL, merged_into $text,
  PRIMARY KEY (space, id),
  FOREIGN KEY (space, merged_into) REFERENCES topics (space, id)
) $table;
CREATE INDEX topics_by_time ON topics (space, last_at);

CREATE TABLE topic_aliases (
  space $text NOT NULL, topic_id $text NOT NULL, position $int NOT NULL, alias $text NOT NULL, key $text NOT NULL,
  PRIMARY KEY (space, topic_id, position),
  FOREIGN KEY (space, topic_id) REFERENCES topics (space, id)
) $table;
CREATE INDEX topic_aliases_by_key ON topic_aliases (space, key);

CREATE TABLE topic_entries (
  space $text NOT NULL, entry_id $text NOT NULL, place $int NOT NULL CHECK (place IN (1, 2)),
  topic_id $text NOT NULL, session $text NOT NULL, at $int NOT NULL,
  PRIMARY KEY (space, entry_id, place),
  FOREIGN KEY (space, topic_id) REFERENCES topics (space, id)
) $table;
CREATE INDEX topic_entries_by_topic ON topic_entries (space, topic_id, at);
CREATE INDEX topic_entries_by_session ON topic_entries (space, session, at);
CREATE INDEX topic_entries_by_time ON topic_entries (space, at);
UPDATE logs SET stamp = 'unread';
DELETE FROM readings WHERE source >= 'log/' AND source < 'log0';
