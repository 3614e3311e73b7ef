-- A campaign's log tells of an outage of its trunk once the trunk is back and the calls that it cut are settled: also if the engine was restarted
-- meanwhile, and only once. Until then the outage stands here.
CREATE TABLE trunk_outages (
  telephony_configuration_id int PRIMARY KEY REFERENCES telephony_configurations ON DELETE CASCADE,
  organization_id            int NOT NULL REFERENCES organizations,
  -- Null: it has been told of, and no other has begun.
  began_at                   timestamptz,
  -- Null while the trunk is away.
  ended_at                   timestamptz,
  -- Those that had contacts to call meanwhile.
  held_campaigns             int[] NOT NULL DEFAULT '{}',
  -- When the campaigns were last told of one: of calls that had ended by then, nothing is said again.
  told_at                    timestamptz NOT NULL DEFAULT '-infinity'
);
ALTER TABLE trunk_outages ENABLE ROW LEVEL SECURITY;
CREATE POLICY of_tenant ON trunk_outages USING (organization_id = (SELECT nullif(current_setting('trunkline.organization', true), '')::int));

-- Calls that an outage may have cut: few among all.
CREATE INDEX attempts_cut ON attempts (telephony_configuration_id, ended_at)
  WHERE hangup_cause IN ('trunk_lost', 'media_failure', 'node_lost', 'written_off');
