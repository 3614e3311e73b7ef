/** Mistakes that the administrator of a real Asterisk may make, and what the engine says about them. */
import t from "tap"
import { asteriskUnavailable, startAsterisk } from "#test/support/asterisk.ts"
import { untilTrue, World } from "#test/support/engine.ts"
import { startGenerated } from "#test/support/generatedAsterisk.ts"
import { variantsOfRun } from "#test/support/partOfRun.ts"

t.setTimeout(1_800_000)
const skip = (await asteriskUnavailable()) ?? false

/** Lines that are appended to the generated files, and what the engine's log says about a campaign to eight callees who answer and stay. */
const mistakes: ReadonlyArray<readonly [what: string, added: Readonly<Record<string, string>>, said: RegExp]> = [
  [
    "a read-only ARI user, then the engine says that it has no permission",
    { "ari.conf": "\n[trunkline](+)\nread_only = yes\n" },
    /a trunk is down.*the ARI user may look but not act \(HTTP 403\)/
  ],
  [
    "more calls than HTTP sessions, then the engine says that some have no audio",
    // Besides the connections for events and requests, there is no room for eight of audio.
    { "http.conf": "sessionlimit = 6\n" },
    /no audio for a call.*(media websocket: ECONNRESET|HTTP 503|ECONNRESET)/
  ]
]

t.test("given an Asterisk with a mistake", { skip }, async (t) => {
  const world = await World.open(t)
  for (const [index, [what, added, said]] of variantsOfRun([...mistakes.entries()], 1))
    await t.test(`given ${what}`, async (t) => {
      const callee = await startAsterisk()
      t.teardown(() => callee.stop())
      const asterisk = await startGenerated(callee, { added })
      t.teardown(() => asterisk.stop())
      const { id: telephony_configuration_id } = await world.api.createConfig(asterisk.telephonyConfig.config, `mistake ${index}`)
      const numbers = Array.from({ length: 8 }, (_, at) => `+1555010${index}${at}520`)
      const { id } = await world.campaign(numbers, { telephony_configuration_id })
      await world.api.start(id)
      await untilTrue(`${said} in the log`, () =>
        world
          .output()
          .split("\n")
          .some((line) => said.test(line))
      )
    })
})
