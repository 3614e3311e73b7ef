-- Expands. What came of a campaign's calls over time is shown while the campaign runs, and asked for again and again. The end of a call writes 6 % more
-- to the log of Postgres for it.

CREATE INDEX attempts_over_time ON attempts (campaign_id, ended_at) INCLUDE (outcome) WHERE campaign_id IS NOT NULL AND outcome IS NOT NULL;
COMMENT ON INDEX attempts_over_time IS 'the outcomes of a campaign''s calls over time';
