-- Expands. Two things about the engine that dials.

-- Which database the engine has dialed on last, and of which history: in a copy, or after a failover, what was dialed since may be missing.
ALTER TABLE engine_lock ADD COLUMN lineage jsonb;

-- Where other engines reach its API, as host:port; null until it listens.
ALTER TABLE engine_lock ADD COLUMN address text;
