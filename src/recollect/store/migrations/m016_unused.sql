-- Tokens from before there were scopes get those that they had, and tables that nothing uses any more go.

UPDATE tokens SET scopes = 'read' WHERE scopes = '' AND read_only = 1;
UPDATE tokens SET scopes = 'read import' WHERE scopes = '' AND channel = 'import';
UPDATE tokens SET scopes = 'read write admin' WHERE scopes = '';
ALTER TABLE tokens DROP COLUMN read_only;
DROP TABLE IF EXISTS moves;
DROP TABLE IF EXISTS requests;
