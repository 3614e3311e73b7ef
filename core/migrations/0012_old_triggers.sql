-- Versions that were stored before 0005 name trigger paths that only the next save of their agent would have registered: until then a call
-- by such a path found nothing. They are registered as a save does it, the published version and the draft; a path that a save would refuse
-- stays out. Of two agents with the same path the older one gets it.
INSERT INTO agent_triggers (path, organization_id, agent_id, is_published, is_in_draft)
SELECT DISTINCT ON (path) path, organization_id, agent_id,
  bool_or(version_status = 'published' AND is_enabled) AS is_published,
  bool_or(version_status = 'draft' AND is_enabled) AS is_in_draft
FROM (
  SELECT organization_id, agent_id, version_status, data ->> 'trigger_path' AS path, data -> 'enabled' IS DISTINCT FROM 'false' AS is_enabled
  FROM agent_definitions CROSS JOIN LATERAL jsonb_path_query(definition, '$.nodes[*] ? (@.type == "trigger").data') AS data
  WHERE version_status IN ('published', 'draft') AND jsonb_typeof(data -> 'trigger_path') = 'string'
) AS named
WHERE path ~ '^[A-Za-z0-9_-]{1,36}$'
GROUP BY path, organization_id, agent_id
ORDER BY path, agent_id
ON CONFLICT (path) DO NOTHING;
