/** Caller IDs that a provider refuses are no longer shown, from that moment on. */
import { Effect } from "effect"
import { TestClock } from "effect/testing"
import t from "tap"
import { TelephonyConfigId } from "#core/Id.ts"
import type { CallerIds } from "#core/telephony/CallerId.ts"
import { RefusedCallers } from "#runtime/trunk/RefusedCallers.ts"
import { run } from "#test/support/run.ts"

const [own, foreign] = ["+15550000001", "+15550000002"] as const
const limits = new Map([[own, 3]])
const both: CallerIds = { all: [foreign, own], preferred: foreign, limits }
const ownOnly: CallerIds = { all: [own], preferred: undefined, limits }

/** A configuration whose numbers can be marked only while the database is up. */
class Configuration {
  readonly callers = new RefusedCallers()
  isDatabaseDown = false
  readonly marked: Array<string> = []
  /** The numbers as they were last read. */
  read = both
  readonly refuse = (number: string) =>
    this.callers.refuse(
      {
        find: () => Effect.undefined,
        prove: () => Effect.void,
        refuseCaller: (_, refused) =>
          Effect.suspend(() => (this.isDatabaseDown ? Effect.die(new Error("down")) : Effect.sync(() => void this.marked.push(refused))))
      },
      TelephonyConfigId.make(3),
      number,
      "not verified",
      Effect.sync(() => void (this.read = ownOnly))
    )
  shown = () => this.callers.among(this.read)
}

t.test("while the mark cannot be written, a refused number is left out anyway", async (t) => {
  const configuration = new Configuration()
  await run(function* () {
    configuration.isDatabaseDown = true
    yield* Effect.forkChild(configuration.refuse(foreign), { startImmediately: true })
    yield* configuration.refuse(foreign)
    t.strictSame(configuration.shown(), ownOnly)
    t.equal(configuration.shown(), configuration.shown(), "and nothing is created again for each call")
    yield* TestClock.adjust("1 minute")
    t.strictSame([configuration.shown(), configuration.marked], [ownOnly, []])
    configuration.isDatabaseDown = false
    yield* TestClock.adjust("10 seconds")
    t.strictSame(configuration.marked, [foreign], "it is marked once, when that is possible")
    t.strictSame(configuration.shown(), ownOnly)
  })
})

t.test("once a person has cleared the mark, the number is shown again", async (t) => {
  const configuration = new Configuration()
  await run(configuration.refuse(foreign))
  t.strictSame(configuration.shown(), ownOnly)
  configuration.read = both
  t.strictSame(configuration.shown(), both)
})
