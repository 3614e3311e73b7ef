/**
 * Which calls the entry about an outage counts: those that it cut, including those that ended shortly before it was noticed. And what the trunk's users see of
 * its outages.
 */
import { Effect } from "effect"
import t from "tap"
import type { HangupCause } from "#core/outcome/HangupCause.ts"
import { pastOutages } from "#core/telephony/pastOutages.ts"
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
      yield* outages.began(away, beganAt, undefined, [campaign.id])
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

t.test("given outages, then each is listed with the last reason that was told, while it lasts and for 90 days", async (t) => {
  const days = 86_400_000
  // Its calls are those of no other test.
  const later = beganAt + 10 * days
  const away = { id: config.id, endpoint: "" }
  const list = pastOutages(sql, config.id)
  const [during, after] = await run(
    Effect.gen(function* () {
      yield* sql`DELETE FROM past_outages`
      for (const at of [later - 91 * days, later - 89 * days]) {
        yield* outages.began(away, at, "another", [])
        yield* outages.ended(away, at + 1000)
        yield* outages.tell(away, at + 1000)
      }
      yield* outages.began(away, later, "connection refused", [])
      yield* outages.began(away, later, "wrong password", [])
      yield* outages.began({ ...away, endpoint: "one" }, later + 1, undefined, [])
      const during = yield* list
      yield* outages.ended(away, later + 5000)
      yield* outages.tell(away, later + 60_000)
      return [during, yield* list] as const
    })
  )
  const none = { callsCut: null, endedAt: null }
  const [endpoint, last, earlier, first] = [
    { ...none, beganAt: later + 1, endpoint: "one", reason: null },
    { ...none, beganAt: later, endpoint: null, reason: "wrong password" },
    { beganAt: later - 89 * days, callsCut: 0, endedAt: later - 89 * days + 1000, endpoint: null, reason: "another" },
    { beganAt: later - 91 * days, callsCut: 0, endedAt: later - 91 * days + 1000, endpoint: null, reason: "another" }
  ]
  t.strictSame(during, [endpoint, last, earlier, first], "while they last")
  t.strictSame(after, [endpoint, { ...last, callsCut: 0, endedAt: later + 5000 }, earlier], "and after that")
})
