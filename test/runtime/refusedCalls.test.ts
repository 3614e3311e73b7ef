/** What the refusal of a call means for its attempt, its contact, its trunk and its journal. */
import { Effect } from "effect"
import t from "tap"
import { OriginateRefused } from "#core/provider/Adapter.ts"
import type { TrunkEvent } from "#core/provider/TrunkEvent.ts"
import { refusal } from "#test/support/fakes.ts"
import { callId, wait, play, steps, accepted, hungUp } from "#test/support/callScene.ts"

t.test("given a request that is refused, then the attempt is void, and the trunk rests for the right time", async (t) => {
  const check = async (reason: Parameters<typeof refusal>[0], restMillis: number | undefined, retryAfterMillis?: number) => {
    const { log, trunk } = await play(
      ({ world }) => {
        world.originate = refusal(reason, retryAfterMillis)
      },
      () => Effect.void
    )
    t.strictSame(log, [...accepted, "void", "line free, 0 slots"], reason)
    const trouble = trunk?.trouble()
    t.equal(trouble && trouble.until - trouble.since, restMillis, reason)
  }
  await check("unreachable", 5000)
  await check("rate_limited", 5000)
  await check("rate_limited", 17_000, 17_000)
  await check("auth_refused", undefined)
  await check("no_credit", undefined)
  await check("misconfigured", undefined)
})

t.test("given a refusal after the call's end was reported, then the journal does not say that there was no call", async (t) => {
  const check = async (name: string, told: ReadonlyArray<TrunkEvent>, noted: ReadonlyArray<string>) => {
    const { world } = await play(
      ({ world }) => {
        world.originate = Effect.andThen(Effect.sleep("1 second"), refusal("rate_limited"))
      },
      ({ says }) => steps(...told.map(says), wait("2 seconds"))
    )
    t.strictSame(world.journal, noted, name)
  }
  await check("nothing was reported: noted at once, and again when it is recorded", [], ["undone", "undone"])
  await check("an end that may hide an answer", [hungUp("normal_clearing")], [])
  await check("it has rung", [{ _tag: "Rang" }], ["placed"])
})

t.test("given a refusal that quotes the number, then it is stored and reported without the number", async (t) => {
  const quoted = (reason: OriginateRefused["reason"]) =>
    Effect.fail(new OriginateRefused({ reason, detail: "Cannot dial PJSIP/+15551@trunk (15551)" }))
  const detail = "Cannot dial PJSIP/+{number}@trunk ({number})"
  for (const reason of ["unreachable", "misconfigured"] as const) {
    const { logged, trunk } = await play(
      ({ world }) => {
        world.originate = quoted(reason)
      },
      () => Effect.void
    )
    if (reason === "unreachable") t.equal(trunk?.trouble()?.detail, detail)
    t.notMatch(JSON.stringify(logged), /15551/)
    const entry = logged.find(([message]) => message === "an originate was refused")
    t.match(entry, ["an originate was refused", { callId, detail }])
  }
})

t.test("given a number that is refused, then the contact has failed, and the trunk is not affected", async (t) => {
  const { log, trunk, world } = await play(
    ({ world }) => {
      world.originate = refusal("number_refused")
    },
    () => Effect.void
  )
  t.strictSame(log, [...accepted, "line free, 0 slots", "ended failed"])
  t.match(world.contacts, [{ state: "failed" }])
  t.equal(trunk?.trouble(), undefined)
})
