import type { SqlClient } from "effect/sql"
import type { CampaignId } from "#core/Id.ts"

export interface RunningCampaign {
  readonly id: CampaignId
  readonly dialEpoch: number
  readonly ownerEpoch: number
  /** Whether it has contacts that could be called now. */
  readonly ready: boolean
}

/** Campaigns of all organizations that an owner must watch: those that run, and those that the engine is to resume. */
export const toBeOwned = (sql: SqlClient.SqlClient) => sql<Pick<RunningCampaign, "dialEpoch" | "id">>`
  SELECT id, dial_epoch FROM campaigns WHERE state = 'running' OR (state = 'paused' AND resume_tries IS NOT NULL) ORDER BY id`

/** The running campaigns of all organizations, except those that were started less than `settling` (an interval) ago. */
export const running = (sql: SqlClient.SqlClient, settling: string) => sql<RunningCampaign>`
  SELECT c.id, c.dial_epoch, c.owner_epoch,
    EXISTS (SELECT 1 FROM contacts WHERE campaign_id = c.id AND state = 'pending' AND NOT awaits_number)
    OR EXISTS (SELECT 1 FROM contacts WHERE campaign_id = c.id AND state = 'retry_wait' AND NOT awaits_number AND due_at < now() - interval '5 seconds') AS ready
  FROM campaigns c WHERE c.state = 'running' AND c.started_at < now() - ${settling}::text::interval`
