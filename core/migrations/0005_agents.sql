-- What an agent has besides its published version: a draft, paths at which calls are asked for, a folder, and the dispositions that its
-- calls have come to.

CREATE UNIQUE INDEX agent_definitions_one_draft ON agent_definitions (agent_id) WHERE version_status = 'draft';

CREATE TABLE folders (
  id              int GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  organization_id int NOT NULL REFERENCES organizations,
  name            text NOT NULL,
  created_at      timestamptz NOT NULL DEFAULT now(),
  CONSTRAINT folders_name UNIQUE (organization_id, name)
);
ALTER TABLE agents ADD COLUMN folder_id int REFERENCES folders ON DELETE SET NULL;
CREATE INDEX agents_of_folder ON agents (folder_id) WHERE folder_id IS NOT NULL;

-- One row for each path that the published version or the draft of an agent names. A path is one agent's in the whole installation.
CREATE TABLE agent_triggers (
  path            text PRIMARY KEY,
  organization_id int NOT NULL REFERENCES organizations,
  agent_id        int NOT NULL REFERENCES agents,
  is_published    boolean NOT NULL,
  is_in_draft     boolean NOT NULL
);
CREATE INDEX agent_triggers_of_agent ON agent_triggers (agent_id);

-- Not a column of the agent: runs that end at once must not queue for the agent's row.
CREATE TABLE agent_dispositions (
  agent_id        int NOT NULL REFERENCES agents,
  code            text NOT NULL,
  organization_id int NOT NULL,
  PRIMARY KEY (agent_id, code)
);
CREATE INDEX agent_dispositions_of_organization ON agent_dispositions (organization_id, code);
ALTER TABLE agents DROP COLUMN disposition_codes;

-- Of each word only the first run writes. Free text from outside must not fill the table, so an agent learns 200 words of 100 characters.
CREATE FUNCTION learn_disposition() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  word text := left(NEW.gathered_context ->> 'call_disposition', 100);
BEGIN
  IF word IS NULL OR word = '' OR EXISTS (SELECT 1 FROM agent_dispositions WHERE agent_id = NEW.agent_id AND code = word) THEN
    RETURN NULL;
  END IF;
  INSERT INTO agent_dispositions (agent_id, code, organization_id)
  SELECT NEW.agent_id, word, NEW.organization_id
  WHERE (SELECT count(*) FROM agent_dispositions WHERE agent_id = NEW.agent_id) < 200
  ON CONFLICT DO NOTHING;
  RETURN NULL;
END
$$;
CREATE TRIGGER runs_learn_disposition AFTER UPDATE OF is_completed ON runs
  FOR EACH ROW WHEN (NEW.is_completed AND NOT OLD.is_completed) EXECUTE FUNCTION learn_disposition();
