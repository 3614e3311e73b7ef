/** A call's voice as its actor sees it: the embedded speech, whole sessions over a loopback, and the files that they leave. */
import { Context, Effect, Exit, Layer, type Scope } from "effect"
import { createHash } from "node:crypto"
import { mkdtemp, readdir, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import t from "tap"
import { CallMetrics } from "#runtime/metrics/CallMetrics.ts"
import { Files } from "#runtime/storage/Files.ts"
import type { FliteOptions } from "#runtime/voice/FliteVoices.ts"
import { fliteLayer } from "#test/support/flite.ts"
import { Tts, TtsError } from "#runtime/voice/Tts.ts"
import { VoiceAgent } from "#runtime/voice/VoiceAgent.ts"
import { callingWith, eventsOf, isNoise, type Loopback, loopback, plan } from "#test/support/voiceScene.ts"

const folder = await mkdtemp(join(tmpdir(), "voice-session-"))
t.teardown(() => rm(folder, { recursive: true }))
const files = Files.layerLocal(folder)
const calling = callingWith(files)

/** A worker that responds with the number of texts it was asked for, and dies because of one of them. */
const fakeWorker = new URL(
  `data:text/javascript,${encodeURIComponent(`
  import { parentPort } from "node:worker_threads"
  let asked = 0
  parentPort.on("message", ({ text }) => {
    if (text === "die") process.exit(3)
    parentPort.postMessage(new Uint8Array(160).fill(++asked))
  })
`)}`
)
const speaking = <A, E>(use: (speak: Tts["Service"]["speak"]) => Effect.Effect<A, E, Scope.Scope>, options: FliteOptions = {}) =>
  Effect.runPromise(Effect.scoped(Tts.use((tts) => use(tts.speak))).pipe(Effect.provide(fliteLayer({ workers: 1, ...options }))))

t.test("the embedded voice", async (t) => {
  t.test("says the same text in the same way, whichever worker says it", async (t) => {
    const greeting = "Hello, this is Anna. Dr. Smith sees you at 3pm."
    const hashes = await Promise.all(
      [0, 1].map(() =>
        speaking((speak) =>
          Effect.map(speak(greeting), (speech) => {
            t.ok(speech.length % 160 === 0 && speech.length > 2 * 8000 && speech.length < 8 * 8000, `${speech.length} bytes`)
            t.ok(new Set(speech).size > 100, "it is not silence")
            return createHash("sha256").update(speech).digest("hex")
          })
        )
      )
    )
    t.equal(hashes[0], hashes[1])
  })
  t.test("synthesizes a text once, for all requests at the same time or later", async (t) => {
    const [first, ...others] = await speaking(
      (speak) =>
        Effect.gen(function* () {
          const together = yield* Effect.all([speak("one"), speak("one"), speak("one")], { concurrency: "unbounded" })
          return [...together, yield* speak("one")]
        }),
      { worker: fakeWorker }
    )
    t.ok(others.every((speech) => speech === first))
    t.equal(first?.[0], 1)
  })
  t.test("synthesizes again what the cache has no room for", async (t) => {
    const counts = await speaking((speak) => Effect.forEach(["one", "one"], (text) => Effect.map(speak(text), (speech) => speech[0])), {
      worker: fakeWorker,
      cacheBytes: 0
    })
    t.strictSame(counts, [1, 2])
  })
  t.test("refuses text that cannot be spoken", async (t) => {
    const reasons = await speaking((speak) =>
      Effect.forEach(["日本語", "  ", "x".repeat(4001)], (text) => Effect.map(Effect.flip(speak(text)), ({ reason }) => reason))
    )
    t.strictSame(reasons, ["Unspeakable", "Unspeakable", "TooLong"])
  })
  t.test("fails the text that made its worker die, and speaks the next ones with a new worker", async (t) => {
    const outcomes = await speaking(
      (speak) =>
        Effect.forEach(
          ["one", "die", "two", "three"],
          (text) =>
            Effect.match(speak(text), {
              onSuccess: (speech) => speech[0],
              onFailure: ({ reason }) => reason
            }),
          { concurrency: "unbounded" }
        ),
      { worker: fakeWorker }
    )
    t.strictSame(outcomes, [1, "Crashed", 1, 2])
  })
  t.test("ends its worker when idle", async (t) => {
    const counts = await speaking(
      (speak) =>
        Effect.gen(function* () {
          const before = yield* Effect.forEach(["one", "two"], (text) => speak(text))
          yield* Effect.sleep("200 millis")
          return [...before, yield* speak("three")].map((speech) => speech[0])
        }),
      { worker: fakeWorker, idle: "20 millis" }
    )
    t.strictSame(counts, [1, 2, 1])
  })
  t.test("is closed with its layer", async (t) => {
    const built = await Effect.runPromise(Effect.scoped(Layer.build(fliteLayer({ worker: fakeWorker }))))
    const tts = Context.get(built, Tts)
    t.equal((await Effect.runPromise(Effect.flip(tts.speak("one")))).reason, "Unreachable")
  })
})

t.test("a session speaks its greeting at once, hears the callee, and reports", async (t) => {
  const line = loopback()
  const { emit, events } = eventsOf()
  const { report, wav, text } = await calling(
    line,
    Effect.gen(function* () {
      const agent = yield* VoiceAgent
      yield* agent.prepare(plan)
      const session = yield* agent.attach(plan, line.media, emit)
      line.talk(20)
      line.talk(20, 9000)
      session.dtmf("1", Date.UTC(2100))
      session.dtmf("hash", Date.UTC(2100))
      session.dtmf("#", Date.UTC(2100) + 1)
      line.talk(60)
      const report = yield* session.finish
      session.dtmf("2", Date.UTC(2100))
      t.equal(yield* session.finish, report)
      const store = yield* Files
      const text = new TextDecoder().decode(yield* store.read("transcripts/7.txt"))
      return { report, text, wav: Buffer.from(yield* store.read("recordings/7.wav")) }
    })
  )
  t.strictSame(events, [{ _tag: "GreetingSpoken" }, { _tag: "HumanDetected" }])
  t.equal(line.sent.length, 100)
  t.strictSame(line.sent.map(isNoise).indexOf(true), 30)
  t.strictSame(report.gathered, { dtmf_digits: "1#", answered_by: "human" })
  t.strictSame(report.usage, { tts: { "tone#0|||none": 29 }, call_duration_seconds: 2 })
  t.ok((report.firstAudioMillis ?? 99) <= 20)
  t.strictSame(
    text.replace(/^\[20[0-9][0-9]-.*?Z\]/gm, "[]"),
    "[] assistant: Hello and good morning to you\n[2100-01-01T00:00:00.000Z] user: pressed 1\n[2100-01-01T00:00:00.001Z] user: pressed #\n"
  )
  t.equal(text, report.transcriptText)
  t.equal(report.events.length, 4)
  const loudest = (side: number, tick: number) =>
    Math.max(...Array.from({ length: 160 }, (_, at) => Math.abs(wav.readInt16LE(44 + tick * 640 + at * 4 + side * 2))))
  t.equal(wav.readUInt32LE(40), 100 * 640)
  const audible = [10, 30, 50].map((tick) => [loudest(0, tick) > 1000, loudest(1, tick) > 1000])
  t.strictSame(audible, [
    [false, true],
    [true, false],
    [false, false]
  ])
})

t.test("when the audio ends during the greeting, only what was heard counts as said", async (t) => {
  const line = loopback()
  const { emit, events } = eventsOf()
  const report = await calling(
    line,
    Effect.gen(function* () {
      const agent = yield* VoiceAgent
      const session = yield* agent.attach({ ...plan, runId: 8, detectMachine: false }, line.media, emit)
      line.talk(15)
      line.end("hung up")
      line.end("again")
      line.talk(50)
      return yield* session.finish
    })
  )
  t.strictSame(events, [{ _tag: "MediaClosed", how: "unknown", why: "hung up" }])
  t.equal(line.sent.length, 15)
  t.match(report.transcriptText, / assistant: Hello and\n$/)
  t.strictSame([report.recordingKey, report.gathered, line.pacer.size()], ["recordings/8.wav", {}, 0])
})

t.test("when the audio continues on another stream, so does the greeting, and the recording is as long as the call", async (t) => {
  const { emit, events } = eventsOf()
  const [whole, parts, line] = [loopback(), loopback(), loopback("untold")]
  const greet = (one: Loopback, isParted: boolean) =>
    calling(
      one,
      Effect.gen(function* () {
        const agent = yield* VoiceAgent
        const session = yield* agent.attach({ ...plan, runId: 19, detectMachine: false }, one.media, emit)
        one.talk(15)
        if (isParted) {
          one.end("stopped", "ended")
          one.talk(100)
          session.resume(line.media)
          one.end("of a stream that does not count any more", "failed")
        }
        one.talk(60)
        const { transcriptText } = yield* session.finish
        return { transcriptText, wav: Buffer.from(yield* (yield* Files).read("recordings/19.wav")) }
      })
    )
  const { transcriptText } = await greet(whole, false)
  events.length = 0
  const parted = await greet(parts, true)
  t.equal(parted.transcriptText.replace(/^\S+ /, ""), transcriptText.replace(/^\S+ /, ""))
  t.strictSame([...parts.sent, ...line.sent].map(isNoise), whole.sent.map(isNoise), "then nothing was said twice or left out")
  t.strictSame(events, [{ _tag: "MediaClosed", how: "ended", why: "stopped" }, { _tag: "GreetingSpoken" }])
  t.equal(parted.wav.readUInt32LE(40), (15 + 100 + 60) * 640)
})

t.test("when its scope closes first, the recording is complete and finish still reports", async (t) => {
  const line = loopback()
  const { session, wav } = await calling(
    line,
    Effect.gen(function* () {
      const agent = yield* VoiceAgent
      const session = yield* Effect.scoped(
        Effect.gen(function* () {
          const attached = yield* agent.attach({ ...plan, runId: 9 }, line.media, () => {})
          line.talk(70)
          return attached
        })
      )
      return { session, wav: Buffer.from(yield* (yield* Files).read("recordings/9.wav")) }
    })
  )
  t.equal(wav.readUInt32LE(40), 70 * 640)
  t.equal((await Effect.runPromise(session.finish)).recordingKey, "recordings/9.wav")
})

t.test("a voice that fails leads to a silent call, not to a failed one", async (t) => {
  const line = loopback()
  const { emit, events } = eventsOf()
  const broken = Layer.succeed(Tts, {
    engine: "broken",
    voice: "x",
    warm: () => Effect.void,
    isCrowdedBy: () => false,
    speak: () => Effect.fail(new TtsError({ reason: "Crashed" }))
  })
  const report = await calling(
    line,
    Effect.gen(function* () {
      const agent = yield* VoiceAgent
      yield* agent.prepare(plan)
      const session = yield* agent.attach({ ...plan, runId: 10, record: false }, line.media, emit)
      line.talk(50)
      session.dtmf("5", 1000)
      return yield* session.finish
    }),
    { tts: broken }
  )
  t.strictSame(events, [])
  t.ok(line.sent.length === 50 && line.sent.every(isNoise))
  t.match([report.gathered, report.recordingKey, report.firstAudioMillis], [{ dtmf_digits: "5" }, undefined, undefined])
  t.match(report.events, [{ type: "rtf-user-transcription" }, { type: "rtf-pipeline-error", payload: { fatal: false } }])
})

/** The figures after a call in which only `act` happens. */
const figuresAfter = async (act: (line: ReturnType<typeof loopback>) => void) => {
  const line = loopback()
  const figures = new CallMetrics()
  await calling(
    line,
    Effect.gen(function* () {
      const agent = yield* VoiceAgent
      const session = yield* agent.attach({ ...plan, runId: 12, record: false }, line.media, () => {})
      act(line)
      yield* session.finish
    }),
    { figures }
  )
  return { figures, line }
}

t.test("when the far end has no room for more audio, those frames count as skipped, not as sent", async (t) => {
  const { figures, line } = await figuresAfter((line) => {
    line.talk(10)
    line.room(false)
    line.talk(7)
    line.room(true)
    line.talk(10)
  })
  t.strictSame([figures.framesSkipped, figures.framesSent], [7, line.sent.length])
})

t.test("when the process stands still, the line is told how much later it continues, and the frames are counted", async (t) => {
  const { figures, line } = await figuresAfter((line) => {
    line.talk(10)
    line.stall(500)
    line.talk(10)
  })
  const skipped = line.skipped.reduce((sum, frames) => sum + frames, 0)
  t.ok(skipped >= 20, `${skipped} frames`)
  t.strictSame([figures.framesSkipped, figures.framesSent], [skipped, line.sent.length])
})

t.test("a socket that throws ends the audio of its call", async (t) => {
  const line = loopback()
  const { emit, events } = eventsOf()
  const media = {
    ...line.media,
    send: () => {
      throw new Error("socket is gone")
    }
  }
  await calling(
    line,
    Effect.gen(function* () {
      const agent = yield* VoiceAgent
      const session = yield* agent.attach({ ...plan, runId: 11, record: false }, media, emit)
      line.talk(3)
      return yield* session.finish
    })
  )
  t.strictSame(events, [{ _tag: "MediaClosed", how: "failed", why: "voice line failed" }])
})

t.test(
  "given the recordings of a dead process, when they are salvaged, then they can be played, and no missing file is named",
  async (t) => {
    const salvaged = await calling(
      loopback(),
      Effect.gen(function* () {
        const agent = yield* VoiceAgent
        const store = yield* Files
        const header = Buffer.alloc(44)
        header.write("RIFF", 0, "latin1")
        header.write("data", 36, "latin1")
        yield* store.write("recordings/21.wav", Buffer.concat([header, Buffer.alloc(1000)]))
        yield* store.write("recordings/22.wav", header)
        const keys = yield* Effect.forEach([21, 22, 23], (runId) => agent.salvage({ ...plan, runId }))
        return { keys, wav: Buffer.from(yield* store.read("recordings/21.wav")), silent: yield* agent.salvage({ ...plan, record: false }) }
      })
    )
    t.strictSame(salvaged.keys, ["recordings/21.wav", undefined, undefined])
    t.equal(salvaged.wav.readUInt32LE(40), 1000)
    t.equal(salvaged.silent, undefined)
  }
)

t.test("without audio, keys are still collected", async (t) => {
  const report = await Effect.runPromise(
    Effect.scoped(
      Effect.gen(function* () {
        const agent = yield* VoiceAgent
        const session = yield* agent.attach(plan, loopback().media, () => {})
        session.dtmf("9", 0)
        return yield* session.finish
      })
    ).pipe(Effect.provide(VoiceAgent.layerNone))
  )
  t.strictSame([report.gathered, report.recordingKey], [{ dtmf_digits: "9" }, undefined])
})

t.test("files", async (t) => {
  const using = <A, E>(use: (store: Files["Service"]) => Effect.Effect<A, E>) =>
    Effect.runPromise(Effect.exit(Files.use(use)).pipe(Effect.provide(files)))
  const key = "campaigns/1/0b6f7f6e-0000-4000-8000-000000000000_my_list____.csv"

  t.test("can be read back as they were written, and leave no drafts", async (t) => {
    const exit = await using((store) =>
      Effect.gen(function* () {
        yield* store.write(key, new TextEncoder().encode("old"))
        yield* store.write(key, new TextEncoder().encode("newer"))
        const read = new TextDecoder().decode(yield* store.read(key))
        const { bytes } = yield* store.stat(key)
        yield* store.remove(key)
        yield* store.remove(key)
        return [read, bytes, (yield* Effect.flip(store.read(key)))._tag, (yield* Effect.flip(store.stat(key)))._tag]
      })
    )
    t.strictSame(Exit.isSuccess(exit) && exit.value, ["newer", 5, "FileNotFound", "FileNotFound"])
    t.strictSame(await readdir(join(folder, "campaigns", "1")), [])
  })
  t.test("no key leads out of the folder", async (t) => {
    const outside = ["../etc/passwd", "a/../../b", "/etc/passwd", "a//b", "a\\b/c", "a/b/"]
    const odd = ["a/.hidden", "a/b\0", "alone", "", "-a/b", `a/${"b".repeat(241)}`]
    const refused = await Promise.all([...outside, ...odd].map((bad) => using((store) => Effect.flip(store.read(bad)))))
    t.ok(refused.every((exit) => Exit.isSuccess(exit) && exit.value._tag === "FileKeyRefused"))
  })
})
