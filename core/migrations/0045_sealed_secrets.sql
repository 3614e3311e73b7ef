-- Secrets are sealed: the database alone does not tell them. What was written in the clear is sealed by the engine once it has its lock.

-- The keys that something is sealed with; the keys themselves are elsewhere. One row, settled, unless the key is being changed just now.
CREATE TABLE secrets_keys (
  id         text PRIMARY KEY,
  -- Everything is sealed, and with this key.
  is_settled boolean NOT NULL DEFAULT false
);
DO $$
BEGIN
  IF EXISTS (SELECT 1 FROM pg_roles WHERE rolname = 'trunkline_tenant') THEN
    REVOKE ALL ON secrets_keys FROM trunkline_tenant;
  END IF;
END $$;

-- Definitions are read by SQL, so only their secrets are sealed: the parts that were taken out, with their places. Empty: there are none.
-- Null: nobody has looked yet.
ALTER TABLE agent_definitions ADD COLUMN secrets text;
CREATE INDEX agent_definitions_unsealed ON agent_definitions (id) WHERE secrets IS NULL;
