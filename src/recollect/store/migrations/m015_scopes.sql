-- What a token may ask for, until when, and when it was last used. Without scopes it was made before there were any.

ALTER TABLE tokens ADD COLUMN scopes $text NOT NULL DEFAULT '';
ALTER TABLE tokens ADD COLUMN expires_at $int;
ALTER TABLE tokens ADD COLUMN last_used_at $int;
