/** `npm run kills -- --seed N`: 30 campaigns of 150 contacts on a trunk of 100 calls per second, through 20 kills of the engine. */
import { parseArgs } from "node:util"
import t from "tap"
import { killStory } from "./killStory.ts"

const { values } = parseArgs({ options: { seed: { default: "5", type: "string" } } })
t.setTimeout(3_600_000)
t.test("given campaigns that share a fast trunk, when the engine is killed repeatedly", (t) =>
  killStory(t, { campaigns: 30, contacts: 150, dialsBetween: 120, kills: 20, seed: Number(values.seed) })
)
