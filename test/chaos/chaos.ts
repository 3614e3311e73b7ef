/**
 * `npm run chaos -- --seed N --contacts N --minutes N --cap N --kills N --nodes N`: campaigns go through all faults in random order, again and again,
 * and there are more kills between them if there would be too few. `--verbose` prints every event as it happens.
 */
import { parseArgs } from "node:util"
import t from "tap"
import { story } from "./story.ts"

const { values } = parseArgs({
  options: {
    cap: { default: "15", type: "string" },
    contacts: { default: "2000", type: "string" },
    kills: { default: "0", type: "string" },
    minutes: { default: "12", type: "string" },
    nodes: { default: "1", type: "string" },
    seed: { default: String(Date.now() % 100_000), type: "string" },
    verbose: { default: false, type: "boolean" }
  }
})
/** A progress line on a terminal, replaced by the next one. */
const show = (line: string) => process.stderr.isTTY && process.stderr.write(`\r\x1b[K${line}`)
// On a busy machine, thousands of calls take a while. The story ends by itself once nothing moves any more.
t.setTimeout(0)
t.test("given campaigns that share phones, when they go through chaos", { timeout: 0 }, (t) => {
  const say = values.verbose ? (line: string) => t.comment(line) : show
  const size = {
    cap: Number(values.cap),
    contacts: Number(values.contacts),
    kills: Number(values.kills),
    minutes: Number(values.minutes),
    nodes: Number(values.nodes)
  }
  return story(t, { ...size, say, seed: Number(values.seed) }, false)
})
