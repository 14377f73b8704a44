-- Why a session was given something, and the process of its host: a session whose process is gone broke off.

ALTER TABLE host_sessions ADD COLUMN pid $int NOT NULL DEFAULT 0;
ALTER TABLE host_events ADD COLUMN why $text NOT NULL DEFAULT '{}';
