-- A credential goes to the hosts on its list and to no others: whoever may edit an agent, and may not read the credential, could otherwise have
-- it sent to a server of his own.

ALTER TABLE credentials ADD COLUMN allowed_hosts text[] NOT NULL DEFAULT '{}';

-- What agents and tools send today goes on: the published versions, those that calls are still made with, those whose webhooks are still on
-- their way, and the tools. A port other than 443, which https has without saying so, stands behind a colon.
WITH definitions AS (
  SELECT d.organization_id, d.definition FROM agent_definitions d
  WHERE d.id IN (SELECT current_definition_id FROM agents)
    OR d.id IN (SELECT agent_definition_id FROM runs WHERE NOT is_completed)
    OR d.id IN (
      SELECT r.agent_definition_id FROM node_webhook_deliveries w JOIN runs r ON r.id = w.run_id WHERE w.state = 'pending'
    )
), nodes AS (
  SELECT organization_id, node -> 'data' AS data FROM definitions,
    jsonb_path_query(definition, '$.nodes[*] ? (@.data.type() == "object")') AS node
), uses AS (
  SELECT organization_id, data ->> 'credential_uuid' AS uuid, data ->> 'endpoint_url' AS url FROM nodes
  UNION ALL
  SELECT organization_id, data ->> 'pre_call_fetch_credential_uuid', data ->> 'pre_call_fetch_url' FROM nodes
  UNION ALL
  SELECT organization_id, definition #>> '{config,credential_uuid}', definition #>> '{config,url}' FROM tools
  UNION ALL
  SELECT organization_id, definition #>> '{config,resolver,credential_uuid}', definition #>> '{config,resolver,url}' FROM tools
), parts AS (
  SELECT organization_id, lower(btrim(uuid)) AS uuid,
    regexp_match(lower(btrim(url)), '^(https?)://(\[[0-9a-f:.]+\]|[^\]\[:/?#@\\\s]+)(?::([0-9]{1,5}))?(?:[/?#\\]|$)') AS part
  FROM uses WHERE uuid IS NOT NULL AND url IS NOT NULL
), hosts AS (
  SELECT organization_id, uuid,
    array_agg(DISTINCT part[2] || CASE
      WHEN part[1] = 'https' AND coalesce(part[3], '443') = '443' THEN ''
      ELSE ':' || coalesce(part[3], '80')
    END) AS list
  FROM parts WHERE part IS NOT NULL GROUP BY organization_id, uuid
)
UPDATE credentials SET allowed_hosts = hosts.list FROM hosts
WHERE credentials.organization_id = hosts.organization_id AND credentials.uuid::text = hosts.uuid;
