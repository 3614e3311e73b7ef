-- What agents use in a call: tools and the credentials they need, recordings to play, documents to know. Their files come in as uploads do.

CREATE TABLE credentials (
  id              int GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  organization_id int NOT NULL REFERENCES organizations,
  uuid            uuid NOT NULL UNIQUE DEFAULT gen_random_uuid(),
  name            text NOT NULL,
  description     text,
  credential_type text NOT NULL CHECK (credential_type IN ('none', 'api_key', 'bearer_token', 'basic_auth', 'custom_header')),
  -- Secret. Nothing that the API answers is made from it.
  credential_data jsonb NOT NULL,
  created_at      timestamptz NOT NULL DEFAULT now(),
  updated_at      timestamptz,
  CONSTRAINT credentials_name UNIQUE (organization_id, name)
);

CREATE TABLE tools (
  id              int GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  organization_id int NOT NULL REFERENCES organizations,
  tool_uuid       uuid NOT NULL UNIQUE DEFAULT gen_random_uuid(),
  name            text NOT NULL,
  description     text,
  -- The type of the definition.
  category        text NOT NULL,
  icon            text,
  icon_color      text,
  status          text NOT NULL DEFAULT 'active' CHECK (status IN ('active', 'archived', 'draft')),
  definition      jsonb NOT NULL,
  created_by      int REFERENCES users,
  created_at      timestamptz NOT NULL DEFAULT now(),
  updated_at      timestamptz
);
CREATE INDEX tools_of_organization ON tools (organization_id, name, id);

CREATE TABLE recordings (
  id              int GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  organization_id int NOT NULL REFERENCES organizations,
  recording_id    text NOT NULL,
  agent_id        int REFERENCES agents,
  tts_provider    text,
  tts_model       text,
  tts_voice_id    text,
  transcript      text NOT NULL,
  storage_key     text NOT NULL,
  metadata        jsonb NOT NULL,
  created_by      int REFERENCES users,
  created_at      timestamptz NOT NULL DEFAULT now(),
  CONSTRAINT recordings_recording_id UNIQUE (organization_id, recording_id)
);
CREATE INDEX recordings_of_organization ON recordings (organization_id, id DESC);

CREATE TABLE documents (
  id              int GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  organization_id int NOT NULL REFERENCES organizations,
  document_uuid   uuid NOT NULL UNIQUE,
  file_name       text NOT NULL,
  size_bytes      int NOT NULL,
  -- SHA-256, hexadecimal.
  file_hash       text NOT NULL,
  media_type      text NOT NULL,
  storage_key     text NOT NULL,
  custom_metadata jsonb NOT NULL,
  created_by      int REFERENCES users,
  created_at      timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX documents_of_organization ON documents (organization_id, id DESC);

-- Of the uploads that become a recording or a document; null for lists of contacts.
ALTER TABLE uploads
  ADD COLUMN media_type text,
  ADD COLUMN max_bytes  int,
  ADD COLUMN file_hash  text,
  ADD COLUMN metadata   jsonb;
