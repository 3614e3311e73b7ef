/** The emulator of Cartesia's recognizers, tested with the vendor's own client. */
import { createRequire } from "node:module"
import type { Cartesia as Client } from "@cartesia/cartesia-js"
import t, { type Test } from "tap"
import { encode } from "#core/audio/Mulaw.ts"
import { InkEmulator } from "#test/emulators/cartesia/InkEmulator.ts"
import { untilTrue } from "#test/support/until.ts"

// The other build of the client is for browsers: it sends no headers. The cast holds because both have the same types.
const { Cartesia } = createRequire(import.meta.url)("@cartesia/cartesia-js") as { readonly Cartesia: typeof Client }

const given = async (t: Test) => {
  const emulator = await new InkEmulator().listen()
  t.teardown(() => emulator.stop())
  return { client: new Cartesia({ apiKey: emulator.key, baseURL: emulator.url }), emulator }
}
const format = { encoding: "pcm_mulaw" as const, sample_rate: 8000, keyterm: ["no thank you"] }

t.test("given the vendor's client for texts, then it reads pieces, and the end of what it asked for", async (t) => {
  const { client, emulator } = await given(t)
  emulator.splits = true
  const socket = client.stt.manualFinalize.websocket({ model: "ink-whisper", language: "en", ...format })
  let text = ""
  const types: Array<string> = []
  socket.on("event", (event) => {
    types.push(event.type)
    if (event.type === "transcript" && event.is_final) text += event.text
  })
  socket.sendRaw(encode(emulator.speech.audioOf("yes please")))
  socket.send("finalize")
  await untilTrue("the end of the text", () => types.includes("flush_done"))
  t.equal(text, "yes please")
  socket.send("close")
  await untilTrue("the end", () => emulator.connections[0]?.closedWith !== undefined)
  t.strictSame(types.slice(-2), ["flush_done", "done"])
})

t.test("given the vendor's client for turns, then it reads them", async (t) => {
  const { client, emulator } = await given(t)
  const socket = client.stt.autoFinalize.websocket({ model: "ink-2", turn_end_timeout_ms: 3000, ...format })
  const turns: Array<readonly [string, string]> = []
  const errors: Array<string | undefined> = []
  socket.on("event", (event) => turns.push([event.type, "transcript" in event ? event.transcript : ""]))
  socket.on("error", ({ error }) => errors.push(error?.error_code))
  socket.sendRaw(encode(emulator.speech.audioOf("yes please")))
  socket.sendRaw(encode(new Int16Array(160 * 20)))
  await untilTrue("the end of the turn", () => turns.some(([type]) => type === "turn.end"))
  t.strictSame(turns, [
    ["connected", ""],
    ["turn.start", ""],
    ["turn.update", "yes please"],
    ["turn.eager_end", "yes please"],
    ["turn.end", "yes please"]
  ])
  emulator.reportError(429, "concurrency_limited")
  await untilTrue("the error", () => errors.length > 0)
  t.strictSame(errors, ["concurrency_limited"])
  socket.send({ type: "close" })
  await untilTrue("the end", () => emulator.connections[0]?.closedWith !== undefined)
})
