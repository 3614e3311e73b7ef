-- The speech and language services that an organization has set up: clients read them at every start. One row for an organization that has
-- set up any; its phone number for tests and its time zone are its preferences, in its own row.
CREATE TABLE model_configurations (
  organization_id int PRIMARY KEY REFERENCES organizations,
  -- As the clients wrote it, secrets included. They know it in two shapes; this is the one that holds all that the other can say.
  configuration   jsonb NOT NULL
);
CREATE POLICY of_tenant ON model_configurations
  USING (organization_id = (SELECT nullif(current_setting('trunkline.organization', true), '')::int));
ALTER TABLE model_configurations ENABLE ROW LEVEL SECURITY;
