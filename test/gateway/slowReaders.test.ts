/** Answers that are read more slowly than they are produced: whatever the pauses, everything arrives, and nothing else. */
import { Effect, Stream } from "effect"
import { createHash } from "node:crypto"
import { request, type IncomingMessage } from "node:http"
import { setTimeout as sleep } from "node:timers/promises"
import t, { type Test } from "tap"
import { download } from "#gateway/request/Route.ts"
import { untilTrue } from "#test/support/until.ts"
import { serving } from "./gatewayTest.ts"

const megabyte = 1_048_576
/** More than the buffers of two sockets on one machine hold. */
const total = 32 * megabyte
/** No two parts are the same, so that a lost or repeated one is noticed. */
const bytes = new Uint8Array(new Uint32Array(total / 4).map((_, at) => at * 2_654_435_761).buffer)
const digestOf = (content: Uint8Array) => createHash("sha256").update(content).digest("hex")

/** From one array, so that each chunk is ready before the previous one has been sent. */
const inChunksOf = (size: number): Stream.Stream<Uint8Array> =>
  Stream.fromIterable(Array.from({ length: Math.ceil(total / size) }, (_, at) => bytes.subarray(at * size, (at + 1) * size)))

const common = { name: "x", summary: "", description: "", access: "none", method: "get", mediaTypes: ["text/csv"] } as const
const mediaType = "text/csv"
const report = (path: string, stream: Stream.Stream<Uint8Array>) =>
  download({ ...common, path, handle: () => Effect.succeed({ mediaType, body: stream }) })
const file = (path: string, stream: Stream.Stream<Uint8Array>) =>
  download({ ...common, path, handle: () => Effect.succeed({ mediaType, body: { bytes: total, read: () => stream } }) })
const kinds = [
  ["a report of unknown length", report],
  ["a file", file]
] as const

/** Longer than the pauses, even on a busy machine. */
const limits = { answerMillis: 600_000 }
/** uWebSockets closes a connection that has accepted nothing for eight to twelve seconds. */
const pauseMillis = 13_000

/** A client that reads nothing until it is told to. */
const reader = async (t: Test, { port }: { readonly port: number }, path = "/all") => {
  const state = { received: 0, wanted: Infinity, isOver: false, isWhole: false }
  const hash = createHash("sha256")
  const asked = request({ host: "127.0.0.1", port, path, agent: false })
  t.teardown(() => asked.destroy())
  asked.on("error", () => undefined)
  const response = await new Promise<IncomingMessage>((resolve) => asked.once("response", resolve).end())
  response.on("error", () => undefined)
  response.on("close", () => {
    state.isOver = true
    state.isWhole = response.complete
  })
  response.on("data", (chunk: Buffer) => {
    state.received += chunk.length
    hash.update(chunk)
    if (state.received >= state.wanted) response.pause()
  })
  response.pause()
  const read = (until: number) => {
    state.wanted = until
    response.resume()
  }
  const whole = async () => {
    read(Infinity)
    await untilTrue("end of the answer", () => state.isOver)
    return { isWhole: state.isWhole, digest: hash.digest("hex") }
  }
  return { state, read, whole, leave: () => asked.destroy() }
}
const all = { isWhole: true, digest: digestOf(bytes) }

for (const [name, kind] of kinds) {
  for (const size of [5000, 40_000, 3 * megabyte]) {
    t.test(
      `given ${name} in chunks of ${size} bytes, each ready before it can be sent, when it is read, then everything arrives`,
      async (t) => {
        const one = await reader(t, await serving(t, [kind("/all", inChunksOf(size))], { limits }))
        t.strictSame(await one.whole(), all)
      }
    )
  }

  t.test(`given ${name}, when its reader disconnects while it is full, then nothing more is produced for it`, async (t) => {
    const events: Array<string> = []
    const ended = Effect.sync(() => void events.push("ended"))
    const one = await reader(t, await serving(t, [kind("/all", Stream.ensuring(inChunksOf(40_000), ended))], { limits }))
    one.leave()
    await untilTrue("end of what is made", () => events.length > 0)
  })
}

t.test("given readers who pause for longer than uWebSockets waits", async (t) => {
  const source = { isAtRest: false, given: 0 }
  const rest = Stream.fromEffectRepeat(
    Effect.suspend(() => {
      if (source.isAtRest) return Effect.never
      source.given += 10_000
      return Effect.succeed(bytes.subarray(0, 10_000))
    })
  )
  const gateway = await serving(t, [report("/report", inChunksOf(40_000)), file("/file", inChunksOf(40_000)), report("/rest", rest)], {
    limits
  })
  const [ofReport, ofFile, ofRest] = await Promise.all([
    reader(t, gateway, "/report"),
    reader(t, gateway, "/file"),
    reader(t, gateway, "/rest")
  ])
  await sleep(pauseMillis)

  t.test("when they continue, then everything arrives", async (t) => {
    t.strictSame(await Promise.all([ofReport.whole(), ofFile.whole()]), [all, all])
  })

  t.test("when nothing more is produced for now, then what there was still arrives", async (t) => {
    source.isAtRest = true
    ofRest.read(Infinity)
    await untilTrue("what there was", () => ofRest.state.received === source.given)
    t.equal(ofRest.state.isOver, false)
  })
})

t.test("given readers that take long for one chunk", async (t) => {
  const gateway = await serving(t, [report("/report", Stream.make(bytes)), file("/file", Stream.make(bytes))], {
    limits: { answerMillis: 15_000 }
  })
  const both = await Promise.all([reader(t, gateway, "/report"), reader(t, gateway, "/file")])

  t.test("when they read some of it every few seconds, then they are not cut off", async (t) => {
    for (let step = 1; step <= 10; step++) {
      for (const one of both) one.read(step * 2 * megabyte)
      await sleep(2000)
    }
    t.strictSame(await Promise.all(both.map((one) => one.whole())), [all, all])
  })
})
