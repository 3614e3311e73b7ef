-- What is deleted by itself: uploads that nothing was made of, kept answers that are too old to count. It is found by an index, however much
-- there is that stays.

-- When a campaign was first made of the list; its file stays for as long as the campaign does. Null while nothing has been made of the
-- upload: a recording or a document takes its upload's row away.
ALTER TABLE uploads ADD COLUMN used_at timestamptz;
UPDATE uploads SET used_at = now() WHERE key IN (SELECT source_id FROM campaigns);
CREATE INDEX uploads_unused ON uploads (key) WHERE used_at IS NULL;

-- Whether anything names a file is asked once more before it is deleted.
CREATE INDEX campaigns_of_source ON campaigns (source_id);
CREATE INDEX recordings_of_file ON recordings (storage_key);
CREATE INDEX documents_of_file ON documents (storage_key);

-- Old keys are looked for in all organizations at once.
DROP INDEX idempotency_keys_oldest;
CREATE INDEX idempotency_keys_oldest ON idempotency_keys (created_at);
