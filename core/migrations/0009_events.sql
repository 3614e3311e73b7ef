-- What happens to campaigns and runs, for those who follow it: written with the change itself, put in order, kept for a week, delivered.

-- As it was written, in no order that a reader could rely on: an id is taken before its transaction commits. One node at a time moves what
-- is here to `events`, and so gives it an id that is higher than any that was ever seen.
CREATE TABLE event_outbox (
  id              bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  organization_id int NOT NULL,
  type            text NOT NULL,
  subject         text NOT NULL,
  data            jsonb NOT NULL,
  created_at      timestamptz NOT NULL DEFAULT clock_timestamp()
);

-- Whoever has seen an id has seen, or can see, every lower one.
CREATE TABLE events (
  id              bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  organization_id int NOT NULL,
  type            text NOT NULL,
  subject         text NOT NULL,
  data            jsonb NOT NULL,
  created_at      timestamptz NOT NULL
);
CREATE INDEX events_of_organization ON events (organization_id, id);

CREATE TABLE webhook_endpoints (
  id                    int GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  organization_id       int NOT NULL REFERENCES organizations,
  url                   text NOT NULL,
  description           text NOT NULL,
  -- Empty: every type.
  event_types           text[] NOT NULL,
  enabled               boolean NOT NULL,
  -- Why the engine itself has disabled it.
  disabled_reason       text CHECK (disabled_reason IN ('gone')),
  secret                text NOT NULL,
  -- Signs too for a while after a rotation.
  previous_secret       text,
  previous_secret_until timestamptz,
  -- When a delivery is due; null when none waits.
  next_due_at           timestamptz,
  -- Raised with every delivery that is added: whoever has looked for the next due one looks again.
  version               bigint NOT NULL DEFAULT 0,
  -- The node that delivers has it until then. `lease` tells one node's turn from the next.
  leased_until          timestamptz,
  lease                 bigint NOT NULL DEFAULT 0,
  -- Turns in a row that failed.
  failures              int NOT NULL DEFAULT 0,
  created_at            timestamptz NOT NULL DEFAULT now(),
  updated_at            timestamptz NOT NULL DEFAULT now()
) WITH (fillfactor = 50);
CREATE INDEX webhook_endpoints_of_organization ON webhook_endpoints (organization_id, id);
CREATE INDEX webhook_endpoints_due ON webhook_endpoints (next_due_at) WHERE enabled AND next_due_at IS NOT NULL;

-- One event on its way to one endpoint.
CREATE TABLE webhook_deliveries (
  id              bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  organization_id int NOT NULL,
  endpoint_id     int NOT NULL REFERENCES webhook_endpoints ON DELETE CASCADE,
  event_id        bigint NOT NULL REFERENCES events ON DELETE CASCADE,
  state           text NOT NULL DEFAULT 'pending' CHECK (state IN ('pending', 'delivered', 'dead')),
  attempts        smallint NOT NULL DEFAULT 0,
  due_at          timestamptz NOT NULL DEFAULT now(),
  last_attempt_at timestamptz,
  -- The status of the last answer; null when there was none.
  last_status     smallint,
  last_error      text,
  created_at      timestamptz NOT NULL DEFAULT now(),
  UNIQUE (event_id, endpoint_id)
) WITH (fillfactor = 80);
CREATE INDEX webhook_deliveries_due ON webhook_deliveries (endpoint_id, due_at, id) WHERE state = 'pending';
CREATE INDEX webhook_deliveries_by_state ON webhook_deliveries (endpoint_id, state, id DESC);
CREATE INDEX webhook_deliveries_newest ON webhook_deliveries (endpoint_id, id DESC);

-- Transactions that notify wait for one another until they are on disk, so only one at a time does: whoever finds another one at it is
-- found when that one's notification is heard, or at the look that follows it.
CREATE FUNCTION add_event(organization_id int, type text, subject text, data jsonb) RETURNS void
  LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT AS $$
BEGIN
  INSERT INTO event_outbox (organization_id, type, subject, data) VALUES ($1, $2, $3, $4);
  IF pg_try_advisory_xact_lock(7265872) THEN
    PERFORM pg_notify('trunkline_events', 'outbox');
  END IF;
END $$;

CREATE FUNCTION campaign_data(campaign campaigns) RETURNS jsonb LANGUAGE sql IMMUTABLE AS $$
  SELECT jsonb_build_object('campaign_id', campaign.id, 'name', campaign.name, 'state', campaign.state, 'workflow_id', campaign.agent_id,
    'total_rows', campaign.total_rows, 'completed_rows', campaign.completed_rows, 'failed_rows', campaign.failed_rows,
    'cancelled_rows', campaign.cancelled_rows, 'parent_campaign_id', campaign.parent_campaign_id,
    'redialed_campaign_id', campaign.redialed_campaign_id)
$$;

-- At the end of the transaction, when the list has been read: the row as it is then.
CREATE FUNCTION campaign_created() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT AS $$
DECLARE
  campaign campaigns;
BEGIN
  SELECT * INTO campaign FROM campaigns WHERE id = NEW.id;
  IF FOUND THEN
    PERFORM add_event(campaign.organization_id, 'campaign.created', 'campaigns/' || campaign.id, campaign_data(campaign));
  END IF;
  RETURN NULL;
END $$;
CREATE CONSTRAINT TRIGGER campaigns_created AFTER INSERT ON campaigns DEFERRABLE INITIALLY DEFERRED
  FOR EACH ROW EXECUTE FUNCTION campaign_created();

CREATE FUNCTION campaign_changed() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT AS $$
DECLARE
  event text := CASE
    WHEN NEW.state = OLD.state THEN 'campaign.redialed'
    WHEN NEW.state = 'running' AND OLD.state = 'draft' THEN 'campaign.started'
    WHEN NEW.state = 'running' THEN 'campaign.resumed'
    WHEN NEW.state IN ('paused', 'completed', 'failed') THEN 'campaign.' || NEW.state
  END;
BEGIN
  IF event IS NOT NULL THEN
    PERFORM add_event(NEW.organization_id, event, 'campaigns/' || NEW.id,
      -- What the campaign's log says of this change, if that was written with it.
      campaign_data(NEW) || jsonb_build_object('previous_state', OLD.state, 'reason', (
        SELECT CASE WHEN latest.is_new THEN latest.event END
        FROM (SELECT l.event, l.xmin = pg_current_xact_id()::xid AS is_new FROM campaign_log l
          WHERE l.campaign_id = NEW.id ORDER BY l.id DESC LIMIT 1) AS latest)));
  END IF;
  RETURN NULL;
END $$;
-- Every call that ends updates its campaign's counters: the condition is all that it costs.
CREATE TRIGGER campaigns_changed AFTER UPDATE ON campaigns FOR EACH ROW
  WHEN (NEW.state <> OLD.state OR (NEW.redialed_campaign_id IS NOT NULL AND OLD.redialed_campaign_id IS NULL))
  EXECUTE FUNCTION campaign_changed();

CREATE FUNCTION run_data(run runs, attempt attempts) RETURNS jsonb LANGUAGE sql IMMUTABLE AS $$
  SELECT jsonb_build_object('run_id', run.id, 'workflow_id', run.agent_id, 'campaign_id', run.campaign_id, 'call_id', run.attempt_id,
    'name', run.name, 'call_type', run.call_type, 'phone_number', run.initial_context -> 'phone_number',
    'row', attempt.row_no, 'attempt', attempt.number)
$$;

CREATE FUNCTION run_completed() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT AS $$
DECLARE
  attempt attempts;
BEGIN
  SELECT * INTO attempt FROM attempts WHERE id = NEW.attempt_id;
  PERFORM add_event(NEW.organization_id, 'run.completed', 'runs/' || NEW.id, run_data(NEW, attempt) || jsonb_build_object(
    'outcome', attempt.outcome, 'hangup_cause', attempt.hangup_cause,
    'disposition', NEW.gathered_context -> 'mapped_call_disposition', 'duration_seconds', NEW.usage_info -> 'call_duration_seconds'));
  RETURN NULL;
END $$;
CREATE TRIGGER runs_completed AFTER UPDATE ON runs FOR EACH ROW
  WHEN (NEW.is_completed AND NOT OLD.is_completed) EXECUTE FUNCTION run_completed();

CREATE FUNCTION run_answered() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT AS $$
DECLARE
  run runs;
BEGIN
  SELECT * INTO run FROM runs WHERE attempt_id = NEW.id;
  IF FOUND THEN
    PERFORM add_event(run.organization_id, 'run.answered', 'runs/' || run.id, run_data(run, NEW));
  END IF;
  RETURN NULL;
END $$;
CREATE TRIGGER attempts_answered AFTER UPDATE ON attempts FOR EACH ROW
  WHEN (NEW.state = 'answered' AND OLD.state <> 'answered') EXECUTE FUNCTION run_answered();
