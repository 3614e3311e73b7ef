-- Expands. An engine that is leaving may follow calls that an earlier process began, and which the journal of that process names.
ALTER TABLE leaving_engines ADD COLUMN adopted uuid[] NOT NULL DEFAULT '{}';
COMMENT ON COLUMN leaving_engines.adopted IS 'The calls in progress, when it began to leave, that its own journal does not name.';
