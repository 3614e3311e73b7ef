-- A trunk may have several endpoints. One of them can be away while the others go on: then its own calls are told of, and it has a row of its own.
ALTER TABLE trunk_outages ADD COLUMN endpoint text NOT NULL DEFAULT '';
COMMENT ON COLUMN trunk_outages.endpoint IS 'Empty: of the trunk as a whole.';
ALTER TABLE trunk_outages DROP CONSTRAINT trunk_outages_pkey;
ALTER TABLE trunk_outages ADD PRIMARY KEY (telephony_configuration_id, endpoint);
