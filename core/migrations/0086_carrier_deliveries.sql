-- What hosted carriers have told us of calls. A delivery is stored before it is acknowledged: after a crash, what the carrier will not repeat is
-- still here. The same delivery again is found here and changes nothing.
CREATE TABLE carrier_deliveries (
  organization_id            int NOT NULL REFERENCES organizations,
  telephony_configuration_id int NOT NULL REFERENCES telephony_configurations ON DELETE CASCADE,
  -- The call that it is about: ours, or all zeros where it is about none.
  call_id                    uuid NOT NULL,
  -- The carrier's own id of the delivery, or a digest of what it says.
  delivery                   text NOT NULL,
  -- SHA-256 of the body, for carriers that use a nonce: the same one with another body is a forgery.
  digest                     bytea NOT NULL,
  events                     jsonb NOT NULL,
  received_at                timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (call_id, telephony_configuration_id, delivery)
);
CREATE INDEX carrier_deliveries_age ON carrier_deliveries (received_at);
ALTER TABLE carrier_deliveries ENABLE ROW LEVEL SECURITY;
CREATE POLICY of_tenant ON carrier_deliveries USING (organization_id = (SELECT nullif(current_setting('trunkline.organization', true), '')::int));

-- Some carriers name a call by their own id alone.
CREATE INDEX attempts_named ON attempts (telephony_configuration_id, provider_call_id) WHERE provider_call_id IS NOT NULL;
