-- Keys of the operator, who sets what organizations may use. They belong to nobody's account, and have neither scopes nor an end: a key
-- that has one of these never becomes an operator's.
ALTER TABLE api_keys
  ADD COLUMN is_operator boolean NOT NULL DEFAULT false,
  ADD CONSTRAINT api_keys_operator CHECK (NOT is_operator OR (role = 'owner' AND user_id IS NULL AND scopes IS NULL AND expires_at IS NULL));

-- In an installation that is there already: the key that its first start printed, or that API_KEY sets. An archived one too: from now on
-- only an operator can bring it back, and a start with another API_KEY replaces it.
UPDATE api_keys SET is_operator = true
WHERE is_bootstrap AND organization_id = (SELECT min(id) FROM organizations)
  AND role = 'owner' AND user_id IS NULL AND scopes IS NULL AND expires_at IS NULL;
CREATE INDEX api_keys_of_operators ON api_keys (id) WHERE is_operator;
