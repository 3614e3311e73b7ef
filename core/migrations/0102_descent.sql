-- Expands. A key is no better than the key that it was made with, and so on; an upload URL is no better than what it was made with.
ALTER TABLE api_keys ADD COLUMN ancestors int[] NOT NULL DEFAULT '{}';
COMMENT ON COLUMN api_keys.ancestors IS 'The keys that it descends from, the first one first. Empty if it was made in a session, by an operator, or before this was kept.';
ALTER TABLE uploads ADD COLUMN maker text;
COMMENT ON COLUMN uploads.maker IS 'Who asked for the upload URL, as in links to files. Null for those from before this was kept.';
