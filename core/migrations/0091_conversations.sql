-- What conversations leave behind, written while they go on, so that a process that dies takes at most the present node with it.

-- One row for each thing, appended and never changed: a document that grows with the call would be rewritten with every turn. The end of the
-- call moves them into its run.
CREATE TABLE conversation_entries (
  call_id         uuid NOT NULL,
  -- In the order in which they were noted; a repeated one is the same.
  ordinal         int NOT NULL,
  organization_id int NOT NULL,
  -- An event of the conversation; all that it has gathered, or used, by then; a callback that was agreed.
  kind            text NOT NULL CHECK (kind IN ('event', 'gathered', 'usage', 'callback')),
  content         jsonb NOT NULL,
  created_at      timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (call_id, ordinal)
);
ALTER TABLE conversation_entries ENABLE ROW LEVEL SECURITY;
CREATE POLICY of_tenant ON conversation_entries
  USING (organization_id = (SELECT nullif(current_setting('trunkline.organization', true), '')::int));

CREATE FUNCTION callback_agreed() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT AS $$
DECLARE
  run runs;
  attempt attempts;
BEGIN
  SELECT * INTO run FROM runs WHERE attempt_id = NEW.call_id;
  IF FOUND THEN
    SELECT * INTO attempt FROM attempts WHERE id = NEW.call_id;
    PERFORM add_event(run.organization_id, 'contact.callback_agreed', 'runs/' || run.id, run_data(run, attempt) || NEW.content);
  END IF;
  RETURN NULL;
END $$;
CREATE TRIGGER conversation_callback AFTER INSERT ON conversation_entries FOR EACH ROW
  WHEN (NEW.kind = 'callback') EXECUTE FUNCTION callback_agreed();

-- Whether anything of what is said in calls is kept at all.
ALTER TABLE retention ADD COLUMN keeps_recordings boolean NOT NULL DEFAULT true;
ALTER TABLE retention ADD COLUMN keeps_transcripts boolean NOT NULL DEFAULT true;
