/** A call's voice as its actor sees it: whole sessions over a loopback, and the files that they leave. */
import { Effect, Exit } from "effect"
import { readdir } from "node:fs/promises"
import { join } from "node:path"
import t from "tap"
import { CallMetrics } from "#runtime/metrics/CallMetrics.ts"
import { Files } from "#runtime/storage/Files.ts"
import { VoiceAgent } from "#runtime/voice/VoiceAgent.ts"
import { isNoise, type Loopback, loopback, planOfCall } from "#test/support/voiceScene.ts"
import { brokenTts, voiceIn } from "./callVoice.ts"

const { attached, calling, files, folder } = await voiceIn(t)
const readFile = (key: string) =>
  Effect.runPromise(Files.use((store) => store.read(key)).pipe(Effect.provide(files), Effect.map(Buffer.from)))

t.test("a session speaks its greeting at once, hears the callee, and reports", async (t) => {
  const { events, kept, line, report } = await attached({ prepared: () => {} }, function* ({ line, session }) {
    line.talk(20)
    line.talk(20, 9000)
    session.dtmf("1", Date.UTC(2100))
    session.dtmf("hash", Date.UTC(2100))
    session.dtmf("#", Date.UTC(2100) + 1)
    line.talk(60)
    const report = yield* session.finish
    session.dtmf("2", Date.UTC(2100))
    t.equal(yield* session.finish, report)
  })
  const wav = await readFile("recordings/7.wav")
  t.strictSame(events, [])
  t.equal(line.sent.length, 100)
  t.strictSame(line.sent.map(isNoise).indexOf(true), 30)
  t.strictSame(report.gathered, { dtmf_digits: "1#", answered_by: "human" })
  t.strictSame(kept.usage.tts, { "tone#0|||none": 29 })
  const first = kept.events.find(({ payload, type }) => type === "rtf-stage-metric" && payload["stage"] === undefined)
  t.ok(Number(first?.payload["ttfb_seconds"]) <= 0.02)
  t.strictSame(
    kept.transcript.replace(/^\[20[0-9][0-9]-.*?Z\]/gm, "[]"),
    "[] assistant: Hello and good morning to you\n[2100-01-01T00:00:00.000Z] user: pressed 1\n[2100-01-01T00:00:00.001Z] user: pressed #\n"
  )
  t.equal(wav.readUInt32LE(40), 100 * 640)
  const isLoud = (side: number, tick: number) =>
    Array.from({ length: 160 }, (_, at) => wav.readInt16LE(44 + tick * 640 + at * 4 + side * 2)).some((sample) => Math.abs(sample) > 1000)
  const sides = [10, 30, 50].map((tick) => [isLoud(0, tick), isLoud(1, tick)])
  t.strictSame(sides, [
    [false, true],
    [true, false],
    [false, false]
  ])
})

t.test("when the audio ends during the greeting, only what was heard counts as said", async (t) => {
  const { events, kept, line, report } = await attached({ plan: { runId: 8, detectMachine: false } }, ({ line }) => {
    line.talk(15)
    line.end("hung up")
    line.end("again")
    line.talk(50)
  })
  t.strictSame(events, [{ _tag: "MediaClosed", how: "unknown", why: "hung up" }])
  t.equal(line.sent.length, 15)
  t.match(kept.transcript, / assistant: Hello and\n$/)
  t.strictSame([report.recordingKey, report.gathered, line.pacer.size()], ["recordings/8.wav", {}, 0])
})

t.test("when the audio continues on another stream, so does the greeting, and the recording is as long as the call", async (t) => {
  const next = loopback("untold")
  const greet = (isParted: boolean) =>
    attached({ plan: { runId: 19, detectMachine: false } }, ({ line, session }) => {
      line.talk(15)
      if (isParted) {
        line.end("stopped", "ended")
        line.talk(100)
        session.resume(next.media)
        line.end("of a stream that does not count any more", "failed")
      }
      line.talk(60)
    })
  const whole = await greet(false)
  const parted = await greet(true)
  t.equal(parted.kept.transcript.replace(/^\S+ /, ""), whole.kept.transcript.replace(/^\S+ /, ""))
  t.strictSame([...parted.line.sent, ...next.sent].map(isNoise), whole.line.sent.map(isNoise), "then nothing was said twice or left out")
  t.strictSame(parted.events, [{ _tag: "MediaClosed", how: "ended", why: "stopped" }])
  t.equal((await readFile("recordings/19.wav")).readUInt32LE(40), (15 + 100 + 60) * 640)
})

t.test("when its scope closes first, the recording is complete and finish still reports", async (t) => {
  const line = loopback()
  const session = await calling(
    line,
    Effect.gen(function* () {
      const session = yield* (yield* VoiceAgent).attach(planOfCall({ runId: 9 }), line.media, () => {})
      line.talk(70)
      return session
    })
  )
  t.equal((await readFile("recordings/9.wav")).readUInt32LE(40), 70 * 640)
  t.equal((await Effect.runPromise(session.finish)).recordingKey, "recordings/9.wav")
})

t.test("a voice that fails is tried three times, and then the call ends, in which nothing was heard", async (t) => {
  const how = { plan: { record: false }, prepared: () => {}, voices: { tts: brokenTts } }
  const { events, kept, line, report } = await attached(how, ({ line, session }) => {
    line.talk(50)
    session.dtmf("5", 1000)
  })
  t.match(events, [{ _tag: "EndWanted" }])
  t.ok(line.sent.length === 50 && line.sent.every(isNoise))
  t.match([report.recordingKey, report.firstAudioAt, report.wasToSpeak], [undefined, undefined, true])
  const types = kept.events.map(({ type }) => type).filter((type) => type !== "rtf-node-transition")
  t.strictSame(types, ["rtf-user-transcription", "rtf-pipeline-error", "rtf-pipeline-error", "rtf-pipeline-error"])
})

/** The figures after a call in which only `act` happens. */
const figuresAfter = async (act: (line: Loopback) => void) => {
  const figures = new CallMetrics()
  const { line } = await attached({ plan: { record: false }, voices: { figures } }, ({ line }) => {
    act(line)
  })
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
  const send = () => {
    throw new Error("socket is gone")
  }
  const { events } = await attached({ line, media: { ...line.media, send }, plan: { record: false } }, () => {
    line.talk(3)
  })
  t.strictSame(events, [{ _tag: "MediaClosed", how: "failed", why: "voice line failed" }])
})

t.test("given the recordings of a dead process, then those that are salvaged can be played, and no missing file is named", async (t) => {
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
      const keys = yield* Effect.forEach([21, 22, 23], (runId) => agent.salvage(planOfCall({ runId })))
      return { keys, wav: Buffer.from(yield* store.read("recordings/21.wav")), silent: yield* agent.salvage(planOfCall({ record: false })) }
    })
  )
  t.strictSame(salvaged.keys, ["recordings/21.wav", undefined, undefined])
  t.equal(salvaged.wav.readUInt32LE(40), 1000)
  t.equal(salvaged.silent, undefined)
})

t.test("without audio, keys are still collected", async (t) => {
  const report = await Effect.runPromise(
    Effect.scoped(
      Effect.gen(function* () {
        const agent = yield* VoiceAgent
        const session = yield* agent.attach(planOfCall(), loopback().media, () => {})
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
