/**
 * Counts the runs of the query's agent `a` without reading them: campaigns keep a count of their attempts, and runs without a campaign are
 * counted as they begin.
 */
export const runsOfAgent = `((
    SELECT coalesce(sum(d.executed_count), 0) FROM campaigns c JOIN campaign_dials d ON d.campaign_id = c.id
    WHERE c.organization_id = a.organization_id AND c.agent_id = a.id
  ) + (
    SELECT coalesce(sum(s.runs), 0) FROM single_run_counts s WHERE s.organization_id = a.organization_id AND s.agent_id = a.id
  ))::int`
