-- The numbers of a telephony configuration: what its calls show to the callee, and what callers dial to reach an agent. And how many calls
-- a configuration carries at once, so that no campaign asks more of a trunk than it has lines.
ALTER TABLE telephony_configurations ADD COLUMN max_concurrent_calls int CHECK (max_concurrent_calls > 0);

-- A configuration is deleted only when no campaign refers to it.
CREATE INDEX campaigns_of_telephony_configuration ON campaigns (telephony_configuration_id);

CREATE TABLE phone_numbers (
  id                         int GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  organization_id            int NOT NULL REFERENCES organizations,
  telephony_configuration_id int NOT NULL REFERENCES telephony_configurations ON DELETE CASCADE,
  -- As it was given, and as it is compared and dialed.
  address                    text NOT NULL,
  address_normalized         text NOT NULL,
  address_type               text NOT NULL CHECK (address_type IN ('pstn', 'sip_uri', 'sip_extension')),
  country_code               text,
  label                      text,
  -- Who answers calls to this number.
  inbound_agent_id           int REFERENCES agents,
  is_active                  boolean NOT NULL DEFAULT true,
  is_default_caller_id       boolean NOT NULL DEFAULT false,
  extra_metadata             jsonb NOT NULL DEFAULT '{}',
  provider                   text NOT NULL,
  -- The account at the provider; null where the provider's configurations name none.
  account                    text,
  created_at                 timestamptz NOT NULL DEFAULT now(),
  updated_at                 timestamptz NOT NULL DEFAULT now(),
  CONSTRAINT phone_numbers_address UNIQUE (organization_id, address_normalized)
);
CREATE INDEX phone_numbers_of_configuration ON phone_numbers (telephony_configuration_id, id);
CREATE UNIQUE INDEX phone_numbers_default_caller ON phone_numbers (telephony_configuration_id) WHERE is_default_caller_id;
-- An inbound call is told by the provider's account and the number called, whichever organization has them.
CREATE UNIQUE INDEX phone_numbers_account ON phone_numbers (provider, account, address_normalized) WHERE account IS NOT NULL;
CREATE INDEX phone_numbers_of_agent ON phone_numbers (inbound_agent_id) WHERE inbound_agent_id IS NOT NULL;
