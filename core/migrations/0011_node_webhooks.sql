-- What the webhook nodes of an agent send when a call is over: a delivery for each node, written with the end of the run.

-- The ids of the nodes that send, in the order of the definition; null when there are none. A hundred at most, so that no definition makes
-- the end of a call long.
CREATE FUNCTION sending_nodes(definition jsonb) RETURNS text[] LANGUAGE sql IMMUTABLE AS $$
  SELECT array_agg(id ORDER BY place)
  FROM jsonb_array_elements_text(jsonb_path_query_array(definition,
    '$.nodes[*] ? (@.type == "webhook" && !exists (@.data.enabled ? (@ == false))).id ? (@.type() == "string")'))
    WITH ORDINALITY AS node (id, place)
  WHERE place <= 100
$$;
ALTER TABLE agent_definitions ADD COLUMN webhook_nodes text[] GENERATED ALWAYS AS (sending_nodes(definition)) STORED;

CREATE TABLE node_webhook_deliveries (
  -- Known to the receiver, and the same at every try.
  id              uuid PRIMARY KEY DEFAULT gen_random_uuid(),
  organization_id int NOT NULL,
  run_id          int NOT NULL REFERENCES runs ON DELETE CASCADE,
  node_id         text NOT NULL,
  state           text NOT NULL DEFAULT 'pending' CHECK (state IN ('pending', 'succeeded', 'dead_letter')),
  attempts        smallint NOT NULL DEFAULT 0,
  -- Of a pending one: the next try. Whoever claims it puts it off by the length of his lease, and `lease` tells one claim from the next.
  due_at          timestamptz NOT NULL DEFAULT now(),
  lease           int NOT NULL DEFAULT 0,
  -- As rendered before the first try; null before that, and again some time after the last one.
  headers         jsonb,
  body            text,
  last_attempt_at timestamptz,
  -- The status of the last answer; null when there was none.
  last_status     smallint,
  last_error      text,
  created_at      timestamptz NOT NULL DEFAULT now(),
  settled_at      timestamptz
) WITH (fillfactor = 80);
-- By a hash, because the id of a node may be longer than an index takes: then a call could not end.
CREATE UNIQUE INDEX node_webhook_deliveries_one ON node_webhook_deliveries (run_id, hashtextextended(node_id, 0));
CREATE INDEX node_webhook_deliveries_due ON node_webhook_deliveries (organization_id, due_at) WHERE state = 'pending';
CREATE INDEX node_webhook_deliveries_settled ON node_webhook_deliveries (settled_at) WHERE state <> 'pending' AND headers IS NOT NULL;

CREATE POLICY of_tenant ON node_webhook_deliveries
  USING (organization_id = (SELECT nullif(current_setting('trunkline.organization', true), '')::int));
ALTER TABLE node_webhook_deliveries ENABLE ROW LEVEL SECURITY;

-- The version that was on the call, whichever is the current one. As with events, one transaction at a time notifies.
CREATE FUNCTION run_completed_nodes() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  nodes text[];
BEGIN
  SELECT webhook_nodes INTO nodes FROM agent_definitions WHERE id = NEW.agent_definition_id;
  IF nodes IS NULL THEN
    RETURN NULL;
  END IF;
  INSERT INTO node_webhook_deliveries (organization_id, run_id, node_id)
  SELECT NEW.organization_id, NEW.id, node_id FROM unnest(nodes) AS node_id
  ON CONFLICT DO NOTHING;
  IF pg_try_advisory_xact_lock(7265874) THEN
    PERFORM pg_notify('trunkline_events', 'nodeWebhooks');
  END IF;
  RETURN NULL;
END $$;
CREATE TRIGGER runs_completed_nodes AFTER UPDATE ON runs FOR EACH ROW
  WHEN (NEW.is_completed AND NOT OLD.is_completed) EXECUTE FUNCTION run_completed_nodes();
