/** Which calls the entry about an outage counts: those that it cut, including those that ended shortly before it was noticed. */
import { Effect } from "effect"
import t from "tap"
import type { HangupCause } from "#core/outcome/HangupCause.ts"
import { TrunkOutages } from "#core/telephony/TrunkOutages.ts"
import { installClaims, numbersOf } from "./claims.ts"

const { claim, config, newId, run, running, sql } = await installClaims(t)
const outages = await run(TrunkOutages)
const beganAt = Date.UTC(2026, 2, 5, 15, 0)

let others = 410
/** What the log says about a call that ended that long before the outage began. */
const cut = (cause: HangupCause, secondsBefore: number) =>
  run(
    Effect.gen(function* () {
      const callId = newId()
      const campaign = yield* running(numbersOf(1, `+1${++others}`))
      yield* claim(campaign, [callId])
      yield* sql`
        UPDATE attempts SET state = 'ended', outcome = 'failed', hangup_cause = ${cause}, sent_at = to_timestamp(${beganAt / 1000 - 60}::float8),
          ended_at = to_timestamp(${beganAt / 1000 - secondsBefore}::float8) WHERE id = ${callId}::uuid`
      const away = { id: config.id, endpoint: "" }
      yield* outages.began(away, beganAt, [campaign.id])
      yield* outages.ended(away, beganAt + 5000)
      const { told } = yield* outages.tell(away, beganAt + 60_000)
      yield* sql`DELETE FROM trunk_outages`
      return told.find(({ campaignId }) => campaignId === campaign.id)?.message
    }).pipe(Effect.provide(TrunkOutages.layer))
  )

t.test("given a call that ended shortly before the outage began, then it was cut if it lost its trunk or its audio", async (t) => {
  const counted = async (cause: HangupCause, secondsBefore: number) => /1 call was cut/.test((await cut(cause, secondsBefore)) ?? "")
  t.ok(await counted("trunk_lost", 5), "its trunk")
  t.ok(await counted("media_failure", 5), "its audio")
  t.notOk(await counted("normal_clearing", 5), "a callee who hung up")
  t.notOk(await counted("media_failure", 15), "long before")
  t.ok(await counted("media_failure", -2), "or during the outage")
})
