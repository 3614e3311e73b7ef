-- A path of an API trigger counts with a key of its own organization alone. While no two organizations could have the same one, a refusal told
-- each which paths the others have, and could keep them from those.
ALTER TABLE agent_triggers DROP CONSTRAINT agent_triggers_pkey, ADD PRIMARY KEY (organization_id, path);
