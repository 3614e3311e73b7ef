-- Events name the number that was called. A contact's own names may have been added to over the initial context, `phone_number` among them;
-- `called_number` is ours.
CREATE OR REPLACE FUNCTION run_data(run runs, attempt attempts) RETURNS jsonb LANGUAGE sql IMMUTABLE AS $$
  SELECT jsonb_build_object('run_id', run.id, 'workflow_id', run.agent_id, 'campaign_id', run.campaign_id, 'call_id', run.attempt_id,
    'name', run.name, 'call_type', run.call_type, 'phone_number', coalesce(run.initial_context -> 'called_number', run.initial_context -> 'phone_number'),
    'row', attempt.row_no, 'attempt', attempt.number)
$$;
