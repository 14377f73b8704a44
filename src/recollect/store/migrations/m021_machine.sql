-- The machine of a session's process, whose number means nothing on another one.
ALTER TABLE host_sessions ADD COLUMN machine $text NOT NULL DEFAULT '';
