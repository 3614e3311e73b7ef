-- Requests that may be sent again without being done again, and lists of campaigns by state.

-- What a request with an `Idempotency-Key` was answered. `id` is the id of what it makes, chosen before it is made: whoever takes an
-- unanswered request over finds by it what was made already.
CREATE TABLE idempotency_keys (
  organization_id int NOT NULL,
  -- The operation's name.
  route           text NOT NULL,
  key             text NOT NULL,
  id              uuid NOT NULL,
  -- SHA-256 of the request, hexadecimal.
  request_hash    text NOT NULL,
  created_at      timestamptz NOT NULL DEFAULT now(),
  -- Until then nobody else takes the request over.
  leased_until    timestamptz NOT NULL,
  -- Null while there is no answer.
  status          smallint,
  body            text,
  PRIMARY KEY (organization_id, route, key)
);
CREATE INDEX idempotency_keys_oldest ON idempotency_keys (organization_id, created_at);

-- The id that was chosen for a campaign before it was made.
ALTER TABLE campaigns ADD COLUMN creation_id uuid;
CREATE UNIQUE INDEX campaigns_creation ON campaigns (creation_id) WHERE creation_id IS NOT NULL;

CREATE INDEX campaigns_by_state ON campaigns (organization_id, state, created_at DESC, id DESC);
