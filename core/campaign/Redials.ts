/**
 * A redial calls contacts again that a completed campaign did not reach. It creates a draft with the contacts whose last call had one of the
 * chosen outcomes and who have not opted out since, their context and the campaign's settings. A campaign can be redialed once; the new one can
 * be redialed in turn.
 */
import { Effect } from "effect"
import type { SqlClient } from "effect/sql"
import { AgentArchived } from "#core/agent/Agent.ts"
import { Compatibility } from "#core/Compatibility.ts"
import type { CampaignId, OrganizationId } from "#core/Id.ts"
import { within } from "#core/organization/QuotaStore.ts"
import { CampaignNotFound, CampaignStateConflict, shownState } from "./Campaign.ts"
import { type NewRedial, RedialRefused } from "./Redial.ts"
import * as store from "./RedialStore.ts"

export const redial = Effect.fnUntraced(
  function* (sql: SqlClient.SqlClient, organizationId: OrganizationId, id: CampaignId, wanted: NewRedial) {
    const parent = yield* store.lockParent(sql, organizationId, id)
    if (parent === undefined) return yield* new CampaignNotFound({ id })
    if (parent.state !== "completed")
      return yield* new CampaignStateConflict({
        action: "redial",
        state: shownState(parent.state, yield* Compatibility),
        expected: ["completed"]
      })
    if (parent.redialedCampaignId !== null) return yield* new RedialRefused({ reason: "already_redialed" })
    if (!parent.isAgentActive) return yield* new AgentArchived({ id: parent.agentId })
    const child = yield* store.insertChild(sql, organizationId, id, wanted)
    if (child === undefined) return yield* Effect.die("An inserted campaign was not returned")
    const { contacts, optedOut } = yield* store.copyContacts(sql, organizationId, id, child.id, wanted.reasons)
    if (contacts === 0) return yield* new RedialRefused({ reason: optedOut === 0 ? "nobody_matches" : "all_opted_out" })
    yield* store.settle(sql, organizationId, id, child.id, { contacts, optedOut })
    yield* within(sql, organizationId, "rows", contacts)
    return child.id
  },
  (redial, sql) => Effect.catchTag(sql.withTransaction(redial), "SqlError", Effect.die)
)
