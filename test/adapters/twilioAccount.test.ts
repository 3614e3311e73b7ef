import t, { type Test } from "tap"
import twilio from "#adapters/twilio/twilio.ts"
import { TwilioEmulator } from "#test/emulators/twilio/TwilioEmulator.ts"
import { numberOf } from "./Line.ts"
import { Hosted, OUR_NUMBER } from "./hosted.ts"

const openWorld = async (t: Test) => {
  const emulator = await TwilioEmulator.start({ numbers: [OUR_NUMBER], callsPerSecond: 1000 })
  const config = { account_sid: emulator.accountSid, auth_token: emulator.authToken }
  const hosted = await Hosted.open(twilio, config, { apiOrigin: emulator.server.url })
  t.teardown(async () => {
    await hosted.close()
    await emulator.stop()
  })
  return { emulator, hosted }
}
const isAccount = ({ path }: { readonly path: string }) => path.endsWith("1.json")

t.test("when the account is suspended while the trunk is up, then a refused call shows it", async (t) => {
  const { emulator, hosted } = await openWorld(t)
  await hosted.line.status("Up")
  emulator.standing = "suspended"
  t.match((await hosted.originate(numberOf("001"))).failure, { _tag: "OriginateRefused", reason: "auth_refused" })
  t.match(await hosted.line.status("Down"), { reason: "auth" })
})

t.test("when Twilio cannot be reached, then the trunk recovers by itself, or at once when it is told to", async (t) => {
  const { emulator, hosted } = await openWorld(t)
  await hosted.line.status("Up")
  await emulator.server.refuseConnections(true)
  t.match((await hosted.originate(numberOf("001"))).failure, { _tag: "OriginateRefused", reason: "unreachable" })
  hosted.line.trunk.reconnect?.()
  t.match(await hosted.line.status("Down"), { reason: "unreachable", detail: "ECONNREFUSED" })
  await emulator.server.refuseConnections(false)
  await hosted.line.status("Up")
  for (const reply of [{ status: 200, body: "<html></html>" }, { status: 401 }, { status: 200, body: { status: "active" } }] as const) {
    emulator.server.fail({ acts: false, reply }, isAccount)
    hosted.line.trunk.reconnect?.()
    t.match(await hosted.line.status("Down"), { reason: "unreachable" }, "when something else answers")
    hosted.line.trunk.reconnect?.()
    await hosted.line.status("Up")
  }
})
