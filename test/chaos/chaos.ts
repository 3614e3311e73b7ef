/**
 * `npm run chaos -- --seed N --contacts N --minutes N --nodes N`: campaigns go through all faults in random order, again and again. With several
 * nodes, one engine dials and the others stand by. `--verbose` prints every event as it happens.
 */
import { parseArgs } from "node:util"
import t from "tap"
import { story } from "./story.ts"

const { values } = parseArgs({
  options: {
    contacts: { default: "2000", type: "string" },
    minutes: { default: "12", type: "string" },
    nodes: { default: "1", type: "string" },
    seed: { default: String(Date.now() % 100_000), type: "string" },
    verbose: { default: false, type: "boolean" }
  }
})
/** A progress line on a terminal, replaced by the next one. */
const show = (line: string) => process.stderr.isTTY && process.stderr.write(`\r\x1b[K${line}`)
// On a busy machine two thousand calls take a while. The story ends by itself once nothing moves any more.
t.setTimeout(0)
t.test("given campaigns that share phones, when they go through chaos", { timeout: 0 }, (t) => {
  const say = values.verbose ? (line: string) => t.comment(line) : show
  return story(
    t,
    { contacts: Number(values.contacts), minutes: Number(values.minutes), nodes: Number(values.nodes), say, seed: Number(values.seed) },
    false
  )
})
