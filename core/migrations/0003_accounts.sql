-- People with passwords, what each may do in which organization, and a log of what was changed by whom.

CREATE TABLE users (
  id                       int GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  -- In lower case.
  email                    text NOT NULL CONSTRAINT users_email UNIQUE,
  name                     text,
  provider_id              text NOT NULL UNIQUE DEFAULT 'usr_' || gen_random_uuid(),
  password_hash            text NOT NULL,
  -- The organization that the user works for, if still a member of it; else it is the one that the user joined first.
  selected_organization_id int REFERENCES organizations,
  -- How far the user has got with the user interface, in its own words.
  onboarding               jsonb NOT NULL DEFAULT '{"completedAt": null, "skipped": false, "seenTooltips": [], "completedActions": []}',
  created_at               timestamptz NOT NULL DEFAULT now()
);

CREATE TABLE memberships (
  organization_id int NOT NULL REFERENCES organizations,
  user_id         int NOT NULL REFERENCES users,
  role            text NOT NULL CHECK (role IN ('viewer', 'member', 'admin', 'owner')),
  created_at      timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (organization_id, user_id)
);
CREATE INDEX memberships_of_user ON memberships (user_id);

ALTER TABLE api_keys
  ADD COLUMN role text NOT NULL DEFAULT 'admin' CHECK (role IN ('viewer', 'member', 'admin', 'owner')),
  -- Who made the key: it may never more than this user may at the moment.
  ADD COLUMN user_id int REFERENCES users,
  -- The key that the operator sets; any other may have any name.
  ADD COLUMN is_bootstrap boolean NOT NULL DEFAULT false;
UPDATE api_keys SET role = 'owner', is_bootstrap = true WHERE name = 'bootstrap';
CREATE UNIQUE INDEX api_keys_bootstrap ON api_keys (organization_id) WHERE is_bootstrap;
CREATE INDEX api_keys_of_organization ON api_keys (organization_id, id);

ALTER TABLE organizations
  ADD COLUMN provider_id                       text,
  ADD COLUMN test_phone_number                 text,
  ADD COLUMN timezone                          text,
  ADD COLUMN external_pbx_integrations_enabled boolean NOT NULL DEFAULT false;

-- Each is made when it is first needed, and shared by all nodes.
CREATE TABLE installation_secrets (
  name   text PRIMARY KEY,
  secret text NOT NULL
);

-- Append-only. `id` is the order.
CREATE TABLE audit_log (
  id              bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  organization_id int NOT NULL REFERENCES organizations,
  at              timestamptz NOT NULL DEFAULT clock_timestamp(),
  -- Who did it; a key, for a user or for nobody, or a user.
  user_id         int,
  api_key_id      int,
  action          text NOT NULL,
  resource_kind   text NOT NULL,
  resource_id     text
);
CREATE INDEX audit_log_newest ON audit_log (organization_id, id DESC);
