/** A retry that is claimed while the campaign's rules change, and then not dialed: it must not go on waiting under the old rules. */
import { Effect } from "effect"
import type { SqlClient } from "effect/sql"
import t from "tap"
import * as campaigns from "#core/campaign/CampaignStore.ts"
import { installClaims, numbersOf, type Running } from "./claims.ts"
import { column, ours } from "./services.ts"

const { claim, ids, run, running, sql, undone } = await installClaims(t)

const contactsOf = ({ id }: Running) =>
  sql<{ readonly state: string; readonly retriesUsed: number; readonly hasDue: boolean }>`
      SELECT state, retries_used, due_at IS NOT NULL AS has_due FROM contacts WHERE campaign_id = ${id} ORDER BY row_no`
const countsOf = ({ id }: Running) =>
  sql<{ readonly state: string; readonly failed: number; readonly queued: number }>`
      SELECT state, failed_rows AS failed, retries_queued AS queued FROM campaigns WHERE id = ${id}`

/** `count` contacts whose numbers were busy once, one of which is claimed while `change` runs. */
const story = (count: number, change: (sql: SqlClient.SqlClient, campaign: Running) => Effect.Effect<unknown, unknown>) =>
  run(function* () {
    const campaign = yield* running(numbersOf(count, `+1${305 + count}`))
    yield* sql`UPDATE contacts SET state = 'retry_wait', retries_used = 1, retry_reason = 'busy', last_outcome = 'busy', due_at = now() - interval '1 s'
      WHERE campaign_id = ${campaign.id}`
    yield* sql`UPDATE campaigns SET retries_queued = ${count} WHERE id = ${campaign.id}`
    const { attempts } = yield* claim(campaign, ids(1))
    yield* Effect.orDie(change(sql, campaign))
    for (const { callId } of attempts) yield* undone(callId)
    const [counts] = yield* countsOf(campaign)
    return { claimed: attempts.length, contacts: yield* contactsOf(campaign), counts }
  })
const rule = (sql: SqlClient.SqlClient, { id }: Running, part: object) =>
  sql`UPDATE campaigns SET retry_config = retry_config || ${JSON.stringify(part)}::text::jsonb WHERE id = ${id}`
const edited = (part: object) => (sql: SqlClient.SqlClient, campaign: Running) =>
  Effect.andThen(rule(sql, campaign, part), campaigns.settleRunning(sql, ours, campaign.id))

t.test("given a retry that is claimed while a running campaign is edited", async (t) => {
  t.test("when the new rules exclude it, then it fails without a dial, and the campaign completes", async (t) => {
    for (const part of [{ maxRetries: 0 }, { retryOnBusy: false }, { enabled: false }]) {
      t.strictSame(
        await story(1, edited(part)),
        {
          claimed: 1,
          contacts: [{ state: "failed", retriesUsed: 0, hasDue: false }],
          counts: { state: "completed", failed: 1, queued: 0 }
        },
        JSON.stringify(part)
      )
    }
  })

  t.test("when others are waiting too, then they fail at the edit, and it fails when it is given back", async (t) => {
    const { contacts, counts } = await story(3, edited({ retryOnBusy: false }))
    t.strictSame(column(contacts, "state"), ["failed", "failed", "failed"])
    t.strictSame(counts, { state: "completed", failed: 3, queued: 0 })
  })

  t.test("when the new rules still allow it, then it waits as before", async (t) => {
    const { contacts, counts } = await story(2, edited({ retryOnNoAnswer: false }))
    const states = contacts.map(({ retriesUsed, state }) => [state, retriesUsed])
    t.strictSame(states, [
      ["retry_wait", 1],
      ["retry_wait", 1]
    ])
    t.strictSame(counts, { state: "running", failed: 0, queued: 2 })
  })
})

t.test("given one that is claimed as the campaign is paused and edited, when it is given back, then the resume decides", async (t) => {
  const { contacts, counts } = await story(1, (sql, campaign) =>
    Effect.andThen(rule(sql, campaign, { maxRetries: 0 }), sql`UPDATE campaigns SET state = 'paused' WHERE id = ${campaign.id}`)
  )
  t.match([contacts, counts], [[{ state: "retry_wait" }], { state: "paused", queued: 1 }])
})
