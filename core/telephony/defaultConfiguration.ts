/**
 * SQL: the id of the telephony configuration that an organization calls through when a call or campaign names none: the default, or else the
 * only one. Null when there is neither. `organization` is the SQL expression of the organization's id.
 */
export const defaultConfiguration = (organization: string): string => `(
  SELECT CASE WHEN bool_or(is_default_outbound) OR count(*) = 1 THEN (array_agg(id ORDER BY is_default_outbound DESC))[1] END
  FROM telephony_configurations candidate WHERE candidate.organization_id = ${organization})`
