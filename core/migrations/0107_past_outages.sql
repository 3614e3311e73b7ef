-- Expands. When each trunk could not be reached, and why, for those who look at it later.
ALTER TABLE trunk_outages ADD COLUMN reason text;
COMMENT ON COLUMN trunk_outages.reason IS 'As the trunk told it last. Null: it was not told, as of an outage that an engine found over when it started.';
CREATE TABLE past_outages (
  organization_id            int NOT NULL REFERENCES organizations ON DELETE CASCADE,
  telephony_configuration_id int NOT NULL REFERENCES telephony_configurations ON DELETE CASCADE,
  -- Empty: of the trunk as a whole.
  endpoint                   text NOT NULL,
  began_at                   timestamptz NOT NULL,
  ended_at                   timestamptz NOT NULL,
  reason                     text,
  calls_cut                  int NOT NULL
);
CREATE INDEX past_outages_by_trunk ON past_outages (telephony_configuration_id, began_at);
ALTER TABLE past_outages ENABLE ROW LEVEL SECURITY;
CREATE POLICY of_tenant ON past_outages USING (organization_id = (SELECT nullif(current_setting('trunkline.organization', true), '')::int));
