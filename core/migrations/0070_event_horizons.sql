-- Up to which of its own events an organization has lost them. Ids are given to all organizations in turn: judged by the oldest and the newest of
-- all, the notice of a gap told each how many events the others have.
CREATE TABLE event_horizons (
  organization_id int PRIMARY KEY,
  gone_until      bigint NOT NULL
);
-- Who has none left is told of a gap once more.
INSERT INTO event_horizons (organization_id, gone_until)
SELECT organization_id, min(id) - 1 FROM events WHERE (SELECT min(id) FROM events) > 1 GROUP BY organization_id;
ALTER TABLE event_horizons ENABLE ROW LEVEL SECURITY;
CREATE POLICY of_tenant ON event_horizons USING (organization_id = (SELECT nullif(current_setting('trunkline.organization', true), '')::int));
