/** Mistakes that the administrator of a real Asterisk may make, and what the engine says about them. */
import t, { type Test } from "tap"
import { asteriskUnavailable, startAsterisk } from "#test/support/asterisk.ts"
import { until, World } from "#test/support/engine.ts"
import { startGenerated } from "#test/support/generatedAsterisk.ts"

t.setTimeout(1_800_000)
const skip = (await asteriskUnavailable()) ?? false

interface Mistake {
  /** Lines that are appended to the generated files. */
  readonly added?: Readonly<Record<string, string>>
  readonly account?: Readonly<Record<string, string>>
}
/** Starts a campaign to eight callees who answer and stay, and returns the first line of the engine's log that matches. */
const saidOf = async (t: Test, { account, added = {} }: Mistake, line: RegExp): Promise<string> => {
  const callee = await startAsterisk()
  t.teardown(() => callee.stop())
  const asterisk = await startGenerated(callee, { added })
  t.teardown(() => asterisk.stop())
  const world = await World.open(t, { account: { ...asterisk.telephonyConfig.config, ...account } })
  const numbers = Array.from({ length: 8 }, (_, at) => `+1555010${at}520`)
  const { id } = await world.campaign(numbers)
  await world.api.start(id)
  return await until(`${line} in the log`, () =>
    world
      .output()
      .split("\n")
      .find((said) => line.test(said))
  )
}

t.test("given a read-only ARI user, then the engine says that it has no permission", { skip, buffered: true }, async (t) => {
  const said = await saidOf(t, { added: { "ari.conf": "\n[trunkline](+)\nread_only = yes\n" } }, /a trunk is down/)
  t.match(said, "the ARI user may look but not act (HTTP 403)")
})

t.test("given an app_name that is not the ARI user's, then the engine says that it was refused", { skip, buffered: true }, async (t) => {
  t.match(await saidOf(t, { account: { app_name: "pbx" } }, /a trunk is down/), "Asterisk refused the ARI user (HTTP 401)")
})

t.test("given more calls than HTTP sessions, then the engine says that some have no audio", { skip, buffered: true }, async (t) => {
  // Besides the connections for events and requests, there is no room for eight of audio.
  const said = await saidOf(t, { added: { "http.conf": "sessionlimit = 6\n" } }, /no audio for a call/)
  t.match(said, /media websocket: ECONNRESET|HTTP 503|ECONNRESET/)
})
