-- Expands. Which database the engine has dialed on last, and of which history: in a copy, or after a failover, what was dialed since may be missing.
ALTER TABLE engine_lock ADD COLUMN lineage jsonb;
