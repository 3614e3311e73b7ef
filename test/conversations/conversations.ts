/**
 * `npm run conversations`: whole conversations with audio in both directions, 100 at once through each of a real Asterisk and two emulated carriers,
 * with a recognizer that makes no mistakes. Prints the share that ended at the right node with the right variables, and lists the others.
 *
 *     npm run conversations -- --through asterisk --calls 20 --seed 7 --pause 900
 */
import { parseArgs } from "node:util"
import t from "tap"
import { converse } from "./story.ts"
import { transports } from "./transports.ts"

const { values } = parseArgs({
  options: {
    calls: { default: "100", type: "string" },
    pause: { default: "500", type: "string" },
    seed: { default: "1", type: "string" },
    through: { type: "string", multiple: true }
  }
})
const chosen = transports.filter((transport) => values.through?.includes(transport) ?? true)
if (chosen.length < (values.through?.length ?? 1)) throw new Error(`--through is one of ${transports.join(", ")}`)
t.setTimeout(0)
for (const transport of chosen) {
  t.test(`given ${values.calls} callees through ${transport}, when all of them are called at once`, { timeout: 0 }, (t) =>
    converse(t, { calls: Number(values.calls), pauseMillis: Number(values.pause), seed: Number(values.seed), transport })
  )
}
