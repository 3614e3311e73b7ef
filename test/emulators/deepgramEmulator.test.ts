/** The emulator of Deepgram's recognizers, tested with the vendor's own client. */
import { DeepgramClient } from "@deepgram/sdk"
import t, { type Test } from "tap"
import { DeepgramEmulator } from "#test/emulators/deepgram/DeepgramEmulator.ts"
import { untilTrue } from "#test/support/until.ts"

const given = async (t: Test) => {
  const emulator = await new DeepgramEmulator().listen()
  t.teardown(() => emulator.stop())
  const production = emulator.url.replace("http", "ws")
  const client = new DeepgramClient({
    apiKey: emulator.key,
    environment: { base: emulator.url, production, agent: production, agentRest: emulator.url }
  })
  return { client, emulator }
}
const bytesOf = (samples: Int16Array) => new Uint8Array(samples.buffer.slice(samples.byteOffset, samples.byteOffset + samples.byteLength))

t.test("given the vendor's client for Nova, then it reads results, and the answer to its request for the text", async (t) => {
  const { client, emulator } = await given(t)
  const connection = await client.listen.v1.connect({
    model: "nova-3",
    language: "en-US",
    encoding: "linear16",
    sample_rate: 8000,
    interim_results: "true"
  })
  const results: Array<readonly [string | undefined, boolean | undefined, boolean | undefined]> = []
  connection.on("message", (message) => {
    if (message.type === "Results") results.push([message.channel.alternatives[0]?.transcript, message.is_final, message.from_finalize])
  })
  connection.connect()
  await connection.waitForOpen()
  connection.sendMedia(bytesOf(emulator.speech.audioOf("yes please")))
  connection.sendFinalize({ type: "Finalize" })
  await untilTrue("the text", () => results.length > 1)
  t.match(results, [
    ["yes please", false],
    ["yes please", true, true]
  ])
  connection.sendKeepAlive({ type: "KeepAlive" })
  connection.sendCloseStream({ type: "CloseStream" })
  await untilTrue("the end", () => emulator.connections[0]?.closedWith !== undefined)
})

t.test("given the vendor's client for Flux, then it reads turns", async (t) => {
  const { client, emulator } = await given(t)
  const connection = await client.listen.v2.connect({
    model: "flux-general-en",
    encoding: "linear16",
    sample_rate: 8000,
    eot_threshold: 0.7,
    eager_eot_threshold: 0.5
  })
  const turns: Array<readonly [string, string]> = []
  connection.on("message", (message) => {
    if (message.type === "TurnInfo") turns.push([message.event, message.transcript])
  })
  connection.connect()
  await connection.waitForOpen()
  connection.sendMedia(bytesOf(emulator.speech.audioOf("yes please")))
  connection.sendMedia(new Uint8Array(320 * 20))
  await untilTrue("the end of the turn", () => turns.length > 2)
  t.strictSame(turns, [
    ["StartOfTurn", "yes please"],
    ["EagerEndOfTurn", "yes please"],
    ["EndOfTurn", "yes please"]
  ])
  connection.sendCloseStream({ type: "CloseStream" })
})
