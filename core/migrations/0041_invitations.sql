-- Who may make an account: the first one, who brings the set-up code or asks from the machine itself, and whoever was invited.

-- Whether there has been an account yet, and until then, what its maker has to show.
CREATE TABLE first_account (
  only_row   bool PRIMARY KEY DEFAULT true CHECK (only_row),
  -- SHA-256 of the set-up code, hexadecimal. Null until one has been made.
  code_hash  text,
  claimed_at timestamptz
);
INSERT INTO first_account (claimed_at) VALUES ((SELECT min(created_at) FROM users));
ALTER TABLE first_account ENABLE ROW LEVEL SECURITY;
CREATE POLICY of_nobody ON first_account USING (false);

CREATE TABLE invitations (
  id                  int GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  organization_id     int NOT NULL REFERENCES organizations,
  -- In lower case.
  email               text NOT NULL,
  role                text NOT NULL CHECK (role IN ('viewer', 'member', 'admin', 'owner')),
  -- Who invites, or with which key: without them, or with less of a role than they give, the invitation is void.
  invited_by_user_id  int REFERENCES users,
  invited_by_key_id   int REFERENCES api_keys,
  created_at          timestamptz NOT NULL DEFAULT now(),
  expires_at          timestamptz NOT NULL,
  revoked_at          timestamptz,
  redeemed_at         timestamptz
);
CREATE INDEX invitations_of_organization ON invitations (organization_id, id DESC);
ALTER TABLE invitations ENABLE ROW LEVEL SECURITY;
CREATE POLICY of_tenant ON invitations USING (organization_id = (SELECT nullif(current_setting('trunkline.organization', true), '')::int));

-- A table of its own, which no request sees.
CREATE TABLE invitation_tokens (
  invitation_id int PRIMARY KEY REFERENCES invitations ON DELETE CASCADE,
  -- SHA-256 of the token, hexadecimal.
  token_hash    text NOT NULL UNIQUE
);
ALTER TABLE invitation_tokens ENABLE ROW LEVEL SECURITY;
CREATE POLICY of_nobody ON invitation_tokens USING (false);
