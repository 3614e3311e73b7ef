-- Organizations, agents, telephony configurations, campaigns, contacts, attempts and runs: the truth that every actor rebuilds itself from.

CREATE TABLE organizations (
  id                  int GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  name                text NOT NULL,
  -- Calls of the organization that may be up at once; campaigns get at most limit - reserve.
  concurrency_limit   int NOT NULL DEFAULT 10 CHECK (concurrency_limit >= 0),
  concurrency_reserve int NOT NULL DEFAULT 0 CHECK (concurrency_reserve >= 0),
  created_at          timestamptz NOT NULL DEFAULT now()
);

CREATE TABLE api_keys (
  id              int GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  organization_id int NOT NULL REFERENCES organizations,
  name            text NOT NULL,
  key_prefix      text NOT NULL,
  -- SHA-256 of the key, hexadecimal. The key itself is nowhere.
  key_hash        text NOT NULL UNIQUE,
  created_at      timestamptz NOT NULL DEFAULT now(),
  last_used_at    timestamptz,
  archived_at     timestamptz
);

CREATE TABLE agents (
  id                    int GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  organization_id       int NOT NULL REFERENCES organizations,
  workflow_uuid         uuid NOT NULL UNIQUE DEFAULT gen_random_uuid(),
  name                  text NOT NULL,
  status                text NOT NULL DEFAULT 'active' CHECK (status IN ('active', 'archived')),
  current_definition_id int,
  disposition_codes     text[] NOT NULL DEFAULT '{}',
  created_at            timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX agents_of_organization ON agents (organization_id, id);

-- A version of an agent. Never changed once published: calls keep the id of the one they were made with.
CREATE TABLE agent_definitions (
  id                         int GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  organization_id            int NOT NULL REFERENCES organizations,
  agent_id                   int NOT NULL REFERENCES agents,
  version_number             int NOT NULL,
  version_status             text NOT NULL CHECK (version_status IN ('draft', 'published', 'archived')),
  definition                 jsonb NOT NULL,
  configurations             jsonb NOT NULL DEFAULT '{}',
  template_context_variables jsonb NOT NULL DEFAULT '{}',
  created_at                 timestamptz NOT NULL DEFAULT now(),
  published_at               timestamptz,
  UNIQUE (agent_id, version_number)
);
ALTER TABLE agents ADD FOREIGN KEY (current_definition_id) REFERENCES agent_definitions;

CREATE TABLE telephony_configurations (
  id                  int GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  organization_id     int NOT NULL REFERENCES organizations,
  name                text NOT NULL,
  provider            text NOT NULL,
  credentials         jsonb NOT NULL,
  is_default_outbound boolean NOT NULL DEFAULT false,
  created_at          timestamptz NOT NULL DEFAULT now(),
  updated_at          timestamptz NOT NULL DEFAULT now(),
  CONSTRAINT telephony_configurations_name UNIQUE (organization_id, name)
);
CREATE UNIQUE INDEX telephony_configurations_default ON telephony_configurations (organization_id) WHERE is_default_outbound;

-- Files that clients put up, by opaque key. `received_at` is null until the bytes are there.
CREATE TABLE uploads (
  key             text PRIMARY KEY,
  organization_id int NOT NULL REFERENCES organizations,
  file_name       text NOT NULL,
  -- SHA-256 of the secret in the upload address, hexadecimal.
  token_hash      text NOT NULL,
  expires_at      timestamptz NOT NULL,
  size_bytes      int,
  received_at     timestamptz,
  created_at      timestamptz NOT NULL DEFAULT now()
);

CREATE TABLE campaigns (
  id                         int GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  organization_id            int NOT NULL REFERENCES organizations,
  name                       text NOT NULL,
  agent_id                   int NOT NULL REFERENCES agents,
  telephony_configuration_id int REFERENCES telephony_configurations,
  state                      text NOT NULL DEFAULT 'draft' CHECK (state IN ('draft', 'running', 'paused', 'completed', 'failed')),
  source_type                text NOT NULL,
  source_id                  text NOT NULL,
  -- SHA-256 of the source file, hexadecimal.
  source_hash                text NOT NULL,
  source_sync                jsonb NOT NULL,
  -- Dial requests per second.
  rate_limit                 int NOT NULL CHECK (rate_limit > 0),
  max_concurrency            int CHECK (max_concurrency > 0),
  retry_config               jsonb NOT NULL,
  schedule_config            jsonb,
  circuit_breaker            jsonb,
  parent_campaign_id         int REFERENCES campaigns,
  redialed_campaign_id       int REFERENCES campaigns,

  -- Raised by every start, resume, pause and trip: a permit of an older epoch is void.
  dial_epoch                 int NOT NULL DEFAULT 0,
  -- Raised by every start and resume: outcomes of calls dialed before do not count in the breaker.
  breaker_epoch              int NOT NULL DEFAULT 0,
  -- Raised by every change of the settings: a decision taken under older ones is taken again.
  settings_version           int NOT NULL DEFAULT 0,
  -- Fencing token: raised by each new owner, named in every write of the owner.
  owner_epoch                int NOT NULL DEFAULT 0,

  total_rows                 int NOT NULL,
  completed_rows             int NOT NULL DEFAULT 0,
  failed_rows                int NOT NULL DEFAULT 0,
  cancelled_rows             int NOT NULL DEFAULT 0,
  failed_calls               int NOT NULL DEFAULT 0,
  retries_queued             int NOT NULL DEFAULT 0,

  created_at                 timestamptz NOT NULL DEFAULT now(),
  updated_at                 timestamptz NOT NULL DEFAULT now(),
  started_at                 timestamptz,
  completed_at               timestamptz
);

-- What claims count. A row of its own: calls that end lock the campaign's row until they are on disk, and a claim must not wait for them.
CREATE TABLE campaign_dials (
  campaign_id    int PRIMARY KEY REFERENCES campaigns,
  -- Contacts dialed at least once.
  processed_rows int NOT NULL,
  -- Attempts that are not void.
  executed_count int NOT NULL
);
CREATE INDEX campaigns_of_organization ON campaigns (organization_id, created_at DESC, id DESC);
CREATE INDEX campaigns_running ON campaigns (id) WHERE state = 'running';

-- Append-only. `id` is the order.
CREATE TABLE campaign_log (
  id              bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  organization_id int NOT NULL,
  campaign_id     int NOT NULL REFERENCES campaigns,
  ts              timestamptz NOT NULL DEFAULT clock_timestamp(),
  level           text NOT NULL CHECK (level IN ('info', 'warning', 'error')),
  event           text NOT NULL,
  message         text NOT NULL,
  details         jsonb
);
CREATE INDEX campaign_log_newest ON campaign_log (campaign_id, id DESC);

-- One accepted line of a campaign's source. There is no `claimed` state: a contact is claimed and its attempt written in one statement.
CREATE TABLE contacts (
  campaign_id     int NOT NULL REFERENCES campaigns,
  row_no          int NOT NULL,
  organization_id int NOT NULL,
  phone_number    text NOT NULL,
  context         jsonb NOT NULL,
  state           text NOT NULL DEFAULT 'pending'
                  CHECK (state IN ('pending', 'dialing', 'in_call', 'retry_wait', 'completed', 'failed', 'cancelled')),
  retries_used    smallint NOT NULL DEFAULT 0,
  retry_reason    text CHECK (retry_reason IN ('busy', 'no_answer', 'voicemail')),
  due_at          timestamptz,
  last_outcome    text,
  PRIMARY KEY (campaign_id, row_no),
  UNIQUE (campaign_id, phone_number)
) WITH (fillfactor = 80);
CREATE INDEX contacts_fresh ON contacts (campaign_id, row_no) WHERE state = 'pending';
CREATE INDEX contacts_waiting ON contacts (campaign_id, due_at, row_no) WHERE state = 'retry_wait';

-- One dial of one number. `id` is the call's id everywhere, at the provider too.
CREATE TABLE attempts (
  id                         uuid PRIMARY KEY,
  organization_id            int NOT NULL REFERENCES organizations,
  campaign_id                int,
  row_no                     int,
  -- 1 is the first dial; a void attempt leaves its number to the next.
  number                     smallint NOT NULL DEFAULT 1,
  telephony_configuration_id int NOT NULL REFERENCES telephony_configurations,
  -- The node that dials; its name outlives its process.
  node                       text NOT NULL,
  state                      text NOT NULL DEFAULT 'intent'
                             CHECK (state IN ('intent', 'sent', 'answered', 'ended', 'void')),
  dial_epoch                 int NOT NULL DEFAULT 0,
  breaker_epoch              int NOT NULL DEFAULT 0,
  -- Where the provider names calls itself.
  provider_call_id           text,
  created_at                 timestamptz NOT NULL DEFAULT clock_timestamp(),
  sent_at                    timestamptz,
  answered_at                timestamptz,
  ended_at                   timestamptz,
  outcome                    text CHECK (outcome IN ('answered', 'voicemail', 'busy', 'no_answer', 'canceled', 'failed', 'error', 'unknown')),
  hangup_cause               text,
  -- What the breaker counts: true a failure, false not, null no entry.
  breaker_failure            boolean,
  FOREIGN KEY (campaign_id, row_no) REFERENCES contacts
) WITH (fillfactor = 80);
-- At most one live attempt per contact, on any number of nodes.
CREATE UNIQUE INDEX attempts_one_live ON attempts (campaign_id, row_no) WHERE state IN ('intent', 'sent', 'answered');
CREATE INDEX attempts_of_contact ON attempts (campaign_id, row_no, number);
CREATE INDEX attempts_live ON attempts (node) WHERE state IN ('intent', 'sent', 'answered');
CREATE INDEX attempts_breaker ON attempts (campaign_id, breaker_epoch, ended_at) INCLUDE (breaker_failure) WHERE breaker_failure IS NOT NULL;

-- The record of an attempt that the API shows; it is written with the attempt and deleted if the attempt is proven void.
CREATE TABLE runs (
  id                  int GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  organization_id     int NOT NULL REFERENCES organizations,
  agent_id            int NOT NULL REFERENCES agents,
  agent_definition_id int NOT NULL REFERENCES agent_definitions,
  campaign_id         int,
  attempt_id          uuid NOT NULL UNIQUE,
  name                text NOT NULL,
  mode                text NOT NULL,
  call_type           text NOT NULL DEFAULT 'outbound' CHECK (call_type IN ('inbound', 'outbound')),
  is_completed        boolean NOT NULL DEFAULT false,
  created_at          timestamptz NOT NULL DEFAULT clock_timestamp(),
  completed_at        timestamptz,
  initial_context     jsonb NOT NULL,
  gathered_context    jsonb,
  usage_info          jsonb,
  cost_info           jsonb,
  logs                jsonb,
  annotations         jsonb,
  transcript_key      text,
  recording_key       text
) WITH (fillfactor = 80);
CREATE INDEX runs_of_campaign ON runs (campaign_id, created_at DESC, id DESC) WHERE campaign_id IS NOT NULL;
CREATE INDEX runs_of_agent ON runs (agent_id, created_at DESC, id DESC);
