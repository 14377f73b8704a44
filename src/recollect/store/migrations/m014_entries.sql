-- What every log entry says, without its secrets: a file may go, an entry is forgotten by `purge` alone.
--
-- A number is given once for each day. `place` is its order in the log, `held` whether the file held it when it was last
-- read, `secret` whether the file has a secret there, `who` wrote it through this store (empty: read from the file).
-- Every log is read once more.

CREATE TABLE log_entries (
  space $text NOT NULL, day $text NOT NULL, number $int NOT NULL, place $int NOT NULL, key $text NOT NULL,
  hash $text NOT NULL, held $int NOT NULL, secret $int NOT NULL, trust $text NOT NULL, who $text NOT NULL,
  at $int NOT NULL, text $text NOT NULL,
  PRIMARY KEY (space, day, number)
) $table;
CREATE INDEX log_entries_by_state ON log_entries (space, held, secret, day);
UPDATE logs SET stamp = 'unread';
DELETE FROM readings WHERE source >= 'log/' AND source < 'log0';
