/** `stillAllowed` of RetryPolicy.ts in the database's words, for statements that judge many contacts, or one under a lock. */

/** `config`: a campaign's `retry_config`. */
export const retryAllowed = (contacts: string, config: string): string => `
  ((${config} ->> 'enabled')::bool AND ${contacts}.retries_used <= (${config} ->> 'maxRetries')::int
    AND CASE ${contacts}.retry_reason WHEN 'busy' THEN (${config} ->> 'retryOnBusy')::bool
      WHEN 'no_answer' THEN (${config} ->> 'retryOnNoAnswer')::bool
      WHEN 'voicemail' THEN (${config} ->> 'retryOnVoicemail')::bool
      WHEN 'trunk_lost' THEN coalesce((${config} ->> 'retryOnTrunkLost')::bool, false) ELSE false END)`
