-- Expands. The function of 0095, which now finds the attempts by their ids, and not by a join alone. With some statistics, such as those after an
-- ANALYZE of `runs` only, the planner merged both tables by their indexes, and read `attempts` from its first row on for each call that ended.
CREATE OR REPLACE FUNCTION runs_ended() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT SET enable_seqscan = off AS $$
DECLARE
  calls int[];
  their_attempts uuid[];
  have_nodes boolean;
  are_unknown boolean;
  unknown record;
BEGIN
  SELECT array_agg(run.id ORDER BY run.id) FILTER (WHERE run.attempt_id IS NOT NULL),
    array_agg(run.attempt_id) FILTER (WHERE run.attempt_id IS NOT NULL),
    bool_or(run.attempt_id IS NOT NULL AND (SELECT d.webhook_nodes IS NOT NULL FROM agent_definitions d WHERE d.id = run.agent_definition_id)),
    bool_or(run.gathered_context ->> 'call_disposition' <> '' AND NOT EXISTS (SELECT 1 FROM agent_dispositions d
      WHERE d.agent_id = run.agent_id AND d.code = left(run.gathered_context ->> 'call_disposition', 100)))
  INTO calls, their_attempts, have_nodes, are_unknown
  FROM updated run JOIN former USING (id) WHERE run.is_completed AND NOT former.is_completed;

  IF calls IS NOT NULL THEN
    INSERT INTO event_outbox (organization_id, type, subject, data)
    SELECT run.organization_id, 'run.completed', 'runs/' || run.id, run_data(run, attempt) || jsonb_build_object(
      'outcome', attempt.outcome, 'hangup_cause', attempt.hangup_cause,
      'disposition', run.gathered_context -> 'mapped_call_disposition', 'duration_seconds', run.usage_info -> 'call_duration_seconds')
    FROM runs run LEFT JOIN attempts attempt ON attempt.id = run.attempt_id AND attempt.id = ANY (their_attempts)
    WHERE run.id = ANY (calls) ORDER BY run.id;
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
