-- Text chats: somebody tries an agent out in writing. Each has a run, and none has an attempt: nobody is called.
ALTER TABLE runs ALTER COLUMN attempt_id DROP NOT NULL;

CREATE TABLE text_chats (
  run_id          int PRIMARY KEY REFERENCES runs ON DELETE CASCADE,
  organization_id int NOT NULL,
  -- Of the request that began it, if it may be repeated.
  request_id      uuid UNIQUE,
  -- One more with each change.
  revision        int NOT NULL DEFAULT 1,
  -- The chat goes on after this turn; null: after the last one.
  cursor_turn_id  text,
  -- What the conversation has known from its start; left out of the states of its turns.
  context         jsonb NOT NULL,
  time_zone       text NOT NULL,
  idle_seconds    int NOT NULL,
  -- When it ends for want of a message; null once it is over.
  expires_at      timestamptz,
  updated_at      timestamptz NOT NULL
);
CREATE INDEX text_chats_open ON text_chats (expires_at) WHERE expires_at IS NOT NULL;
CREATE POLICY of_tenant ON text_chats USING (organization_id = (SELECT nullif(current_setting('trunkline.organization', true), '')::int));
ALTER TABLE text_chats ENABLE ROW LEVEL SECURITY;

CREATE TABLE text_chat_turns (
  run_id          int NOT NULL REFERENCES text_chats ON DELETE CASCADE,
  organization_id int NOT NULL,
  -- From 1, in the order in which they were made; never given twice.
  place           int NOT NULL,
  turn            jsonb NOT NULL,
  -- The conversation after the turn: the next one goes on from there. Of a chat that is over, only the last one is kept.
  state           jsonb,
  -- Of a turn that was taken back: when, and after which turn the chat went on instead.
  discarded_at    timestamptz,
  rewound_from    text,
  PRIMARY KEY (run_id, place)
);
CREATE POLICY of_tenant ON text_chat_turns USING (organization_id = (SELECT nullif(current_setting('trunkline.organization', true), '')::int));
ALTER TABLE text_chat_turns ENABLE ROW LEVEL SECURITY;

CREATE FUNCTION text_chat_counted() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT AS $$
BEGIN
  PERFORM use_quota(coalesce(NEW.organization_id, OLD.organization_id), 'text_chats',
    (NEW.expires_at IS NOT NULL)::int - (OLD.expires_at IS NOT NULL)::int);
  RETURN NULL;
END $$;
CREATE TRIGGER text_chats_counted AFTER INSERT OR DELETE OR UPDATE OF expires_at ON text_chats
  FOR EACH ROW EXECUTE FUNCTION text_chat_counted();

-- Only calls are events and reach the webhooks of their agents.
DROP TRIGGER runs_completed ON runs;
CREATE TRIGGER runs_completed AFTER UPDATE ON runs FOR EACH ROW
  WHEN (NEW.is_completed AND NOT OLD.is_completed AND NEW.attempt_id IS NOT NULL) EXECUTE FUNCTION run_completed();
DROP TRIGGER runs_completed_nodes ON runs;
CREATE TRIGGER runs_completed_nodes AFTER UPDATE ON runs FOR EACH ROW
  WHEN (NEW.is_completed AND NOT OLD.is_completed AND NEW.attempt_id IS NOT NULL) EXECUTE FUNCTION run_completed_nodes();
