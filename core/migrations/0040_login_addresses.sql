-- From where people have logged in: those addresses go first when passwords are checked, and what others guess is not held against them.
CREATE TABLE login_addresses (
  user_id       int NOT NULL REFERENCES users,
  -- An IPv4 address, or the /64 of an IPv6 address.
  subscriber    text NOT NULL,
  last_login_at timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (user_id, subscriber)
);
CREATE INDEX login_addresses_newest ON login_addresses (last_login_at DESC);
-- About people and not about an organization: no request has any business here, but a log-in, which is nobody's yet.
ALTER TABLE login_addresses ENABLE ROW LEVEL SECURITY;
CREATE POLICY of_nobody ON login_addresses USING (false);
