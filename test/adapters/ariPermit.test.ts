/** A request leaves only while it is wanted, however long its connection takes: the server's log is the judge. */
import { setTimeout as sleep } from "node:timers/promises"
import { Effect, Fiber } from "effect"
import t, { type Test } from "tap"
import ari from "#adapters/ari/ari.ts"
import { type AriEmulator, startAriEmulator } from "#test/emulators/ari/AriEmulator.ts"
import { trust } from "#test/support/tlsCertificate.ts"
import { startTlsFront, type TlsFront } from "#test/support/tlsFront.ts"
import { Line, newCallId, numberOf } from "./Line.ts"
import { untilTrue } from "#test/support/until.ts"
import { ariConfig } from "#test/support/ariConfig.ts"
import { usual } from "#test/support/usual.ts"

trust()

interface Scene {
  readonly emulator: AriEmulator
  readonly front: TlsFront
  readonly line: Line
}
const given = (name: string, test: (t: Test, scene: Scene) => Promise<void>) =>
  t.test(`given an Asterisk behind TLS, ${name}`, { buffered: true }, async (t) => {
    const emulator = await startAriEmulator({ timeScale: 0.2 })
    const front = await startTlsFront(emulator.url)
    const line = await Line.up(ari, ariConfig(emulator, { endpoint: front.url }))
    t.teardown(async () => {
      await line.close()
      front.stop()
      await emulator.stop()
    })
    await test(t, { emulator, front, line })
  })
const placed = ({ requests }: TlsFront) => requests.filter((line) => line === "POST /ari/channels").length

given("when the permit ends while the handshake takes 3.5 s, then nothing leaves", async (t, { emulator, front, line }) => {
  let permitted = true
  let asked = 0
  const leave = () => {
    asked += 1
    return permitted
  }
  front.hold(true)
  const dialing = line.originate(numberOf("011"), { leave })
  await untilTrue("a connection that waits for its handshake", () => front.held() === 1)
  await sleep(1_500)
  permitted = false
  await sleep(2_000)
  t.equal(asked, 0)
  front.hold(false)
  const { callId, failure, to } = await dialing
  t.match(failure, { _tag: "OriginateRefused", reason: "permit_lapsed" })
  t.equal(asked, 1)
  // A later request shows that nothing was still on its way.
  await line.lookup(callId)
  t.equal(placed(front), 0)
  t.equal(emulator.log.dialsByNumber().get(to), undefined)
})

given("when the call is withdrawn while it waits for a connection, then its connection is dropped at once", async (t, { front, line }) => {
  front.hold(true)
  const callId = newCallId()
  let asked = 0
  const request = { callId, from: undefined, leave: () => ++asked > 0, ...usual, to: numberOf("011") }
  const dialing = Effect.runFork(line.trunk.originate(request))
  await untilTrue("a connection that waits for its handshake", () => front.held() === 1)
  await Effect.runPromise(Fiber.interrupt(dialing))
  await untilTrue("the end of the connection", () => front.held() === 0)
  front.hold(false)
  const next = await line.originate(numberOf("001"))
  t.equal(next.failure, undefined)
  t.equal(asked, 0)
  t.equal(placed(front), 1)
})

given("when the events' websocket is lost while it waits for a connection, then nothing leaves", async (t, { emulator, front, line }) => {
  front.hold(true)
  const dialing = line.originate(numberOf("011"))
  await untilTrue("a connection that waits for its handshake", () => front.held() === 1)
  emulator.dropSockets()
  await line.status("Down")
  front.hold(false)
  t.match((await dialing).failure, { _tag: "OriginateRefused", reason: "unreachable" })
  await line.status("Up")
  t.equal(placed(front), 0)
})
