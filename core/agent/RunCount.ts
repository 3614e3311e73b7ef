/**
 * How many runs the agent `a` of a query has had, without reading them: a campaign knows how many attempts it has made, and runs without a
 * campaign are counted as they begin.
 */
export const runsOfAgent = `((
    SELECT coalesce(sum(d.executed_count), 0) FROM campaigns c JOIN campaign_dials d ON d.campaign_id = c.id
    WHERE c.organization_id = a.organization_id AND c.agent_id = a.id
  ) + (
    SELECT coalesce(sum(s.runs), 0) FROM single_run_counts s WHERE s.organization_id = a.organization_id AND s.agent_id = a.id
  ))::int`
