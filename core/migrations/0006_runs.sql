-- Finding the runs of a whole organization, and counting runs without reading them.

CREATE INDEX runs_of_organization ON runs (organization_id, created_at DESC, id DESC);
CREATE INDEX IF NOT EXISTS campaigns_of_agent ON campaigns (agent_id);

-- How many runs of an agent belong to no campaign; the others are counted in campaign_dials. An agent's count lies in several rows, by the
-- connection that counted: calls that begin at the same time do not wait for one another.
CREATE TABLE single_run_counts (
  organization_id int NOT NULL,
  agent_id        int NOT NULL,
  shard           smallint NOT NULL,
  runs            int NOT NULL,
  PRIMARY KEY (organization_id, agent_id, shard)
) WITH (fillfactor = 50);
INSERT INTO single_run_counts (organization_id, agent_id, shard, runs)
SELECT organization_id, agent_id, 0, count(*) FROM runs WHERE campaign_id IS NULL GROUP BY organization_id, agent_id;

CREATE FUNCTION count_single_run() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  run runs := CASE TG_OP WHEN 'DELETE' THEN OLD ELSE NEW END;
BEGIN
  INSERT INTO single_run_counts (organization_id, agent_id, shard, runs)
  VALUES (run.organization_id, run.agent_id, pg_backend_pid() % 16, CASE TG_OP WHEN 'DELETE' THEN -1 ELSE 1 END)
  ON CONFLICT (organization_id, agent_id, shard) DO UPDATE SET runs = single_run_counts.runs + excluded.runs;
  RETURN NULL;
END $$;
-- A campaign's runs pass by: the condition is all that they cost.
CREATE TRIGGER runs_single_begun AFTER INSERT ON runs FOR EACH ROW WHEN (NEW.campaign_id IS NULL) EXECUTE FUNCTION count_single_run();
CREATE TRIGGER runs_single_undone AFTER DELETE ON runs FOR EACH ROW WHEN (OLD.campaign_id IS NULL) EXECUTE FUNCTION count_single_run();

-- What the runs of a day, by UTC, came to, once nothing about it can change any more: read instead of the runs.
CREATE TABLE usage_days (
  organization_id int NOT NULL,
  day             date NOT NULL,
  calls           int NOT NULL,
  seconds         float8 NOT NULL,
  PRIMARY KEY (organization_id, day)
);
