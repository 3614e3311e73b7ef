/** `npm run chaos -- --seed N --contacts N --minutes N`: campaigns go through every fault, in an order of chance, again and again. */
import { parseArgs } from "node:util"
import t from "tap"
import { story } from "./story.ts"

const { values } = parseArgs({
  options: {
    contacts: { default: "2000", type: "string" },
    minutes: { default: "12", type: "string" },
    seed: { default: String(Date.now() % 100_000), type: "string" }
  }
})
// On a busy machine two thousand calls take their time.
t.setTimeout((Number(values.minutes) + 60) * 60_000)
t.test("given campaigns that share phones, when they go through chaos", (t) =>
  story(t, { contacts: Number(values.contacts), minutes: Number(values.minutes), seed: Number(values.seed) }, false)
)
