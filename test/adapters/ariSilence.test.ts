/** Connections that go silent without ending, and what is remembered about an Asterisk that has once failed to do something. */
import { setTimeout as sleep } from "node:timers/promises"
import t, { type Test } from "tap"
import type { AriEmulatorOptions } from "#test/emulators/ari/AriEmulator.ts"
import { numberOf } from "./Line.ts"
import { type Proxied, throughProxy } from "./throughProxy.ts"

t.jobs = 8

const given = (name: string, test: (t: Test, scene: Proxied) => Promise<void>, options: AriEmulatorOptions = {}) =>
  t.test(`given an Asterisk behind a proxy, ${name}`, { buffered: true }, (t) =>
    throughProxy({ timeScale: 0.2, ...options }, (scene) => test(t, scene))
  )

const isEvents = ({ opening }: { readonly opening: string }) => opening.startsWith("GET /ari/events")
const isMedia = ({ opening }: { readonly opening: string }) => opening.startsWith("GET /media/")

given("when the events' websocket freezes, then it is replaced, and the call is still followed", async (t, { line, proxy }) => {
  const callId = await line.talkTo(numberOf("011"))
  proxy.tcp.freeze(isEvents)
  t.match(await line.status("Down", 40_000), { reason: "unreachable" })
  await line.status("Up", 20_000)
  await line.hangup(callId)
  t.equal(await line.hungUp(callId), "agent_hangup")
})

given("when the connections of requests freeze, then later requests get new ones", async (t, { line, proxy }) => {
  const callId = await line.talkTo(numberOf("011"))
  await Promise.all([line.lookup(callId), line.lookup(callId), line.lookup(callId)])
  proxy.tcp.freeze((connection) => !isEvents(connection))
  const stuck = line.lookup(callId).catch((error: unknown) => error)
  await sleep(3_500)
  t.equal(await line.lookup(callId), "up", "while the first still waits")
  t.match(await stuck, { _tag: "ProviderError" })
})

given("when the audio's websocket freezes, then that is reported, and the call continues", async (t, { line, proxy }) => {
  const callId = await line.talkTo(numberOf("011"))
  await line.withMedia(callId, async (stream) => {
    let closed: ReadonlyArray<string> | undefined
    stream.listen({
      frame: () => {},
      closed: (...end) => {
        closed = end
      }
    })
    proxy.tcp.freeze(isMedia)
    for (let waited = 0; closed === undefined && waited < 300; waited++) await sleep(100)
    t.strictSame(closed, ["failed", "the media websocket does not answer"])
  })
  t.equal(await line.lookup(callId), "up")
})

given(
  "when the callee is silent, then its audio stays open",
  async (t, { line }) => {
    const callId = await line.talkTo(numberOf("011"))
    await line.withMedia(callId, async (stream) => {
      const told: Array<string> = []
      stream.listen({ frame: () => told.push("a sound"), closed: (how, why) => told.push(how, why) })
      await sleep(12_000)
      t.strictSame(told, [])
    })
  },
  { media: false }
)

given("when one websocket channel could not be created, then the next one is requested again", async (t, { line, proxy }) => {
  const callId = await line.talkTo(numberOf("011"))
  const refuse = (status: number) =>
    proxy.befall(
      {
        name: "made up",
        forward: "never",
        reply: {
          status,
          headers: { "content-type": "application/json", server: "Asterisk/22.10.1" },
          body: '{"error":"Allocation failed"}'
        }
      },
      ({ path }) => path.startsWith("/ari/channels/externalMedia?"),
      1
    )
  const ways = () =>
    proxy.exchanges.flatMap(({ path }) =>
      path.startsWith("/ari/channels/externalMedia?") ? [/transport=websocket/.test(path) ? "websocket" : "RTP"] : []
    )
  refuse(500)
  await line.withMedia(callId, async () => {})
  await line.withMedia(callId, async () => {})
  t.strictSame(ways(), ["websocket", "RTP", "websocket"])
  refuse(501)
  await line.withMedia(callId, async () => {})
  await line.withMedia(callId, async () => {})
  t.strictSame(ways().slice(3), ["websocket", "RTP", "RTP"], "unless Asterisk does not know such a channel")
})
