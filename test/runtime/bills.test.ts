/** What carriers report about the cost of calls, during the call and after it. */
import { Effect } from "effect"
import t from "tap"
import { costIn } from "#core/provider/CallCost.ts"
import { answered, callId, hungUp, play, type Scene, steps, wait } from "#test/support/callScene.ts"

const billed = (amount: string, currency = "USD") => ({ _tag: "Billed", amount, currency }) as const

t.test("the last report of a cost that can be understood counts", async (t) => {
  t.strictSame(costIn([billed("0.1"), { _tag: "Rang" }, billed("0.0085", "EUR")]), { amount: "0.0085", currency: "EUR" })
  t.equal(costIn([{ _tag: "Rang" }]), undefined)
  for (const amount of ["", "-1", "1,5", "1e3", ".5", "1.", "NaN", "9".repeat(10)]) t.equal(costIn([billed(amount)]), undefined, amount)
  for (const currency of ["", "usd", "US", "USDT"]) t.equal(costIn([billed("1", currency)]), undefined, currency)
})

t.test("given a carrier that reports the cost of a call while it is up, then its run has it", async (t) => {
  const { bills } = await play(
    () => {},
    ({ says }) => steps(says(answered), says(billed("0.01")), says(billed("nothing")), says(hungUp("normal_clearing")))
  ).then(({ world }) => world)
  t.strictSame(bills, [[callId, { amount: "0.01", currency: "USD" }]])
})

const looksAfter = ({ world }: Scene) => world.log.filter((entry) => entry === "look").length

t.test("given a carrier that prices calls in their records", async (t) => {
  const ends = ({ says }: Scene) => steps(says(answered), says(hungUp("normal_clearing")))
  const priced = ({ world }: Scene) => Object.assign(world, { lookup: Effect.succeed("ended"), manifest: { pricesRecords: true } })
  await t.test("when the price is there a minute later, then it is recorded, and not requested again", async (t) => {
    const counts: Array<number> = []
    const count = (scene: Scene) => Effect.sync(() => void counts.push(looksAfter(scene)))
    const price = ({ world }: Scene) => Effect.sync(() => void (world.told = [billed("0.013")]))
    const { world } = await play(priced, (scene) =>
      steps(ends(scene), wait("10 seconds"), count(scene), wait("7 seconds"), count(scene), price(scene), wait("2 hours"), count(scene))
    )
    t.strictSame(counts, [0, 1, 2])
    t.strictSame(world.bills, [[callId, { amount: "0.013", currency: "USD" }]])
  })
  await t.test("when there never is one, then it is requested four times", async (t) => {
    const { world } = await play(priced, (scene) => steps(ends(scene), wait("5 hours")))
    t.strictSame([looksAfter({ world } as Scene), world.bills], [4, []])
  })
  await t.test("when nobody answered, then nothing is requested", async (t) => {
    const { world } = await play(priced, ({ says }) => steps(says(hungUp("user_busy")), wait("5 hours")))
    t.equal(looksAfter({ world } as Scene), 0)
  })
})
