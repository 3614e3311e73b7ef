-- How long an organization keeps the recordings and transcripts of its calls. No row, or null: for ever.
CREATE TABLE retention (
  organization_id   int PRIMARY KEY REFERENCES organizations,
  recordings_days   int CHECK (recordings_days > 0),
  transcripts_days  int CHECK (transcripts_days > 0),
  -- The last run that was seen to, by its creation and id: those up to it are not looked through again.
  recordings_until  timestamptz NOT NULL DEFAULT 'epoch',
  recordings_run    int NOT NULL DEFAULT 0,
  transcripts_until timestamptz NOT NULL DEFAULT 'epoch',
  transcripts_run   int NOT NULL DEFAULT 0
);
CREATE POLICY of_tenant ON retention USING (organization_id = (SELECT nullif(current_setting('trunkline.organization', true), '')::int));
ALTER TABLE retention ENABLE ROW LEVEL SECURITY;
