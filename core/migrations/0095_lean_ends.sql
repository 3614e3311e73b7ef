-- Expands. Calls that end together are made known together: a trigger for each run took a tenth of what Postgres spends on a call.

-- A statement that leaves the state as it is goes without its condition. First, because the statements of calls lock attempts before runs.
DROP TRIGGER attempts_answered ON attempts;
CREATE TRIGGER attempts_answered AFTER UPDATE OF state ON attempts FOR EACH ROW
  WHEN (NEW.state = 'answered' AND OLD.state <> 'answered') EXECUTE FUNCTION run_answered();

-- What follows from the end of calls, and of chats: the events of calls, the words by which an agent's calls are disposed of, and deliveries for the
-- webhook nodes of agents. Rows are found by their keys even while the planner takes the tables for empty: it keeps its plan for a session.
CREATE FUNCTION runs_ended() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT SET enable_seqscan = off AS $$
DECLARE
  calls int[];
  have_nodes boolean;
  are_unknown boolean;
  unknown record;
BEGIN
  SELECT array_agg(run.id ORDER BY run.id) FILTER (WHERE run.attempt_id IS NOT NULL),
    bool_or(run.attempt_id IS NOT NULL AND (SELECT d.webhook_nodes IS NOT NULL FROM agent_definitions d WHERE d.id = run.agent_definition_id)),
    bool_or(run.gathered_context ->> 'call_disposition' <> '' AND NOT EXISTS (SELECT 1 FROM agent_dispositions d
      WHERE d.agent_id = run.agent_id AND d.code = left(run.gathered_context ->> 'call_disposition', 100)))
  INTO calls, have_nodes, are_unknown
  FROM updated run JOIN former USING (id) WHERE run.is_completed AND NOT former.is_completed;

  IF calls IS NOT NULL THEN
    INSERT INTO event_outbox (organization_id, type, subject, data)
    SELECT run.organization_id, 'run.completed', 'runs/' || run.id, run_data(run, attempt) || jsonb_build_object(
      'outcome', attempt.outcome, 'hangup_cause', attempt.hangup_cause,
      'disposition', run.gathered_context -> 'mapped_call_disposition', 'duration_seconds', run.usage_info -> 'call_duration_seconds')
    FROM runs run LEFT JOIN attempts attempt ON attempt.id = run.attempt_id WHERE run.id = ANY (calls) ORDER BY run.id;
    -- As in `add_event`.
    IF pg_try_advisory_xact_lock(7265872) THEN
      PERFORM pg_notify('trunkline_events', 'outbox');
    END IF;
  END IF;

  IF have_nodes THEN
    -- The version that was on the call, whichever is the current one.
    INSERT INTO node_webhook_deliveries (organization_id, run_id, node_id)
    SELECT run.organization_id, run.id, node_id
    FROM updated run JOIN agent_definitions ON agent_definitions.id = run.agent_definition_id CROSS JOIN unnest(webhook_nodes) AS node_id
    WHERE run.id = ANY (calls) ON CONFLICT DO NOTHING;
    IF pg_try_advisory_xact_lock(7265874) THEN
      PERFORM pg_notify('trunkline_events', 'nodeWebhooks');
    END IF;
  END IF;

  IF are_unknown THEN
    -- Of each word only the first run writes. One after the other, as each counts those before it.
    FOR unknown IN
      SELECT DISTINCT run.agent_id, run.organization_id, left(run.gathered_context ->> 'call_disposition', 100) AS word
      FROM updated run JOIN former USING (id)
      WHERE run.is_completed AND NOT former.is_completed AND run.gathered_context ->> 'call_disposition' <> '' ORDER BY 1, 3
    LOOP
      INSERT INTO agent_dispositions (agent_id, code, organization_id)
      SELECT unknown.agent_id, unknown.word, unknown.organization_id
      WHERE (SELECT count(*) FROM agent_dispositions WHERE agent_id = unknown.agent_id) < 200
      ON CONFLICT DO NOTHING;
    END LOOP;
  END IF;
  RETURN NULL;
END $$;

DROP TRIGGER runs_completed ON runs;
DROP TRIGGER runs_completed_nodes ON runs;
DROP TRIGGER runs_learn_disposition ON runs;
CREATE TRIGGER runs_ended AFTER UPDATE ON runs REFERENCING OLD TABLE AS former NEW TABLE AS updated
  FOR EACH STATEMENT EXECUTE FUNCTION runs_ended();
DROP FUNCTION run_completed, run_completed_nodes, learn_disposition;

-- As with attempts and runs, see 0002: the statement that stores a delivery reads its configuration, and to look both references up again, and to lock their
-- rows, took a fifth of its time. What is stored while a configuration is deleted goes when it is a day old, as all deliveries.
ALTER TABLE carrier_deliveries
  DROP CONSTRAINT carrier_deliveries_organization_id_fkey,
  DROP CONSTRAINT carrier_deliveries_telephony_configuration_id_fkey;
CREATE FUNCTION forget_deliveries() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT AS $$
BEGIN
  DELETE FROM carrier_deliveries WHERE telephony_configuration_id = OLD.id;
  RETURN NULL;
END $$;
CREATE TRIGGER telephony_configurations_forgotten AFTER DELETE ON telephony_configurations FOR EACH ROW EXECUTE FUNCTION forget_deliveries();
