-- Log-ins that can be ended. Tokens from before this have no session, and are refused: whoever had one logs in once more.
CREATE TABLE sessions (
  id           uuid PRIMARY KEY DEFAULT gen_random_uuid(),
  user_id      int NOT NULL REFERENCES users,
  -- The network address that it was begun from.
  address      text NOT NULL,
  created_at   timestamptz NOT NULL DEFAULT now(),
  -- Good to a minute.
  last_used_at timestamptz NOT NULL DEFAULT now(),
  expires_at   timestamptz NOT NULL
);
CREATE INDEX sessions_of_user ON sessions (user_id, created_at DESC);
CREATE INDEX sessions_expired ON sessions (expires_at);
-- A user's own, whatever organization the user works for.
ALTER TABLE sessions ENABLE ROW LEVEL SECURITY;
CREATE POLICY of_nobody ON sessions USING (false);

ALTER TABLE api_keys
  -- Null: never.
  ADD COLUMN expires_at timestamptz,
  -- What the key is good for, beside its role. Null: for everything.
  ADD COLUMN scopes text[] CHECK (scopes <@ ARRAY['read', 'calls', 'campaigns', 'agents', 'admin']);
