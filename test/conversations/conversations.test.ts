/** The short form of `npm run conversations`: two callees through each of a real Asterisk and a carrier. */
import t from "tap"
import { asteriskUnavailable } from "#test/support/asterisk.ts"
import { converse } from "./story.ts"

const withoutAsterisk = (await asteriskUnavailable()) ?? false
const transports = ["asterisk", "vonage"] as const
t.setTimeout(1_800_000)
// They run at the same time, because conversations mostly wait.
t.jobs = transports.length
for (const [at, transport] of transports.entries()) {
  const skip = transport === "asterisk" && withoutAsterisk
  t.test(`given callees through ${transport}, when all of them are called at once`, { buffered: true, skip }, (t) =>
    converse(t, { calls: 2, seed: 1 + 2 * at, transport })
  )
}
