/** What carriers report about the cost of calls, during the call and after it. */
import { Effect } from "effect"
import t from "tap"
import { costIn } from "#core/provider/CallCost.ts"
import { answered, callId, hungUp, nothing, play, type Scene, steps, wait } from "#test/support/callScene.ts"
import { given, sets } from "#test/support/callTable.ts"

const billed = (amount: string, currency = "USD") => ({ _tag: "Billed", amount, currency }) as const

t.test("the last report of a cost that can be understood counts", async (t) => {
  t.strictSame(costIn([billed("0.1"), { _tag: "Rang" }, billed("0.0085", "EUR")]), { amount: "0.0085", currency: "EUR" })
  t.equal(costIn([{ _tag: "Rang" }]), undefined)
  for (const amount of ["", "-1", "1,5", "1e3", ".5", "1.", "NaN", "9".repeat(10)]) t.equal(costIn([billed(amount)]), undefined, amount)
  for (const currency of ["", "usd", "US", "USDT"]) t.equal(costIn([billed("1", currency)]), undefined, currency)
})

t.test("given a carrier that reports the cost of a call while it is up, then its run has it", async (t) => {
  const { world } = await play(nothing, ({ says }) =>
    steps(says(answered), says(billed("0.01")), says(billed("nothing")), says(hungUp("normal_clearing")))
  )
  t.strictSame(world.bills, [[callId, { amount: "0.01", currency: "USD" }]])
})

t.test("given a carrier that prices calls in their records", async (t) => {
  const priced = given({ world: { lookup: Effect.succeed("ended"), manifest: { pricesRecords: true } } })
  const looksIn = (log: ReadonlyArray<string>) => log.filter((entry) => entry === "look").length
  const counts: Array<number> = []
  const count = ({ world }: Scene) => Effect.sync(() => counts.push(looksIn(world.log)))
  const ends = ({ says }: Scene) => steps(says(answered), says(hungUp("normal_clearing")))
  const soon = await play(priced, (scene) =>
    steps(
      ...[ends(scene), wait("10 seconds"), count(scene), wait("7 seconds"), count(scene)],
      ...[sets(scene, { told: [billed("0.013")] }), wait("2 hours"), count(scene)]
    )
  )
  t.strictSame(counts, [0, 1, 2], "when the price is there a minute later, then it is not requested again")
  t.strictSame(soon.world.bills, [[callId, { amount: "0.013", currency: "USD" }]], "and recorded")
  const never = await play(priced, (scene) => steps(ends(scene), wait("5 hours")))
  t.strictSame([looksIn(never.log), never.world.bills], [4, []], "when there never is one, then it is requested four times")
  const busy = await play(priced, ({ says }) => steps(says(hungUp("user_busy")), wait("5 hours")))
  t.equal(looksIn(busy.log), 0, "when nobody answered, then nothing is requested")
})
