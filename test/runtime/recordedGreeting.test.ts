/** Calls that open with a recording: what is heard, what the run says, and what happens if the recording cannot be played. */
import { Clock, Effect, Layer } from "effect"
import { mkdtemp, readFile, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import t from "tap"
import { OrganizationId, RecordingId } from "#core/Id.ts"
import { PlayedRecordings } from "#core/recording/PlayedRecordings.ts"
import { RecordingBytes } from "#runtime/storage/RecordingBytes.ts"
import { Files } from "#runtime/storage/Files.ts"
import { decode, encodeFrames } from "#core/audio/Mulaw.ts"
import { untilTrue } from "#test/support/engine.ts"
import { Tts } from "#runtime/voice/Tts.ts"
import { RecordedSpeech } from "#runtime/voice/RecordedSpeech.ts"
import type { VoicePlan } from "#runtime/voice/VoiceSession.ts"
import { VoiceAgent } from "#runtime/voice/VoiceAgent.ts"
import { callingWith, eventsOf, isNoise, loopback, plan } from "#test/support/voiceScene.ts"
import { phoneWav, tone, wavOf } from "#test/support/wav.ts"

const folder = await mkdtemp(join(tmpdir(), "recorded-greeting-"))
t.teardown(() => rm(folder, { recursive: true }))
const files = Files.layerLocal(folder)
const calling = callingWith(files)

// The same sound every time, which resembles nothing else.
const samples = Int16Array.from({ length: 160 * 25 }, (_, at) => 9000 * Math.sin(at * at * 0.001))
const transcript = "Good morning, this is Ada of Acme"
const ours = OrganizationId.make(1)
/** Half a second of 500 Hz, MPEG-2 layer III, 22,050 Hz, made with LAME. */
const mp3 = await readFile(new URL("./tone.mp3", import.meta.url))
/** Repeats the sound many times, with a wrong byte in about every fourth frame. */
const broken = (sound: Uint8Array) => {
  const all = Buffer.concat(Array.from({ length: 20 }, () => sound))
  for (let at = 300; at < all.length; at += 397) all[at] = (at * at) % 256
  return all
}
/** The content of each recording's file, by the recording's name. Undefined: there is no file. */
const uploads: Readonly<Record<string, Uint8Array | undefined>> = {
  "ra-wav": phoneWav(samples),
  "ra-mp3": mp3,
  "ra-tagged": Buffer.concat([Buffer.from("ID3\x04\0\0\0\0\0\x0a0123456789", "latin1"), mp3]),
  "ra-text": Buffer.from("this is not sound"),
  "ra-empty": phoneWav(new Int16Array()),
  "ra-cut": mp3.subarray(0, 50),
  "ra-broken": broken(mp3),
  "ra-gone": undefined
}

/** A storage that counts how often each file is read. */
const makeRecorded = () => {
  const reads: Array<string> = []
  const recordings = Layer.succeed(PlayedRecordings, {
    find: (organizationId, name) => {
      const recordingId = name._tag === "Id" ? Object.keys(uploads)[name.id] : name.recordingId
      const isThere = organizationId === ours && recordingId !== undefined && recordingId in uploads
      return Effect.succeed(isThere ? { recordingId, storageKey: `recordings/1/${recordingId}/a.bin`, transcript } : undefined)
    }
  })
  const bytes = Layer.effect(
    RecordingBytes,
    Effect.map(RecordingBytes, ({ read }) => ({
      read: (key) =>
        Effect.suspend(() => {
          reads.push(key)
          return read(key)
        })
    }))
  ).pipe(Layer.provide(RecordingBytes.layerFiles), Layer.provide(files))
  return { reads, recorded: RecordedSpeech.layer.pipe(Layer.provide([recordings, bytes])) }
}
const named = (recordingId: string) => ({ _tag: "RecordingId", recordingId }) as const

await Effect.runPromise(
  Files.use((store) =>
    Effect.forEach(Object.entries(uploads), ([name, bytes]) =>
      bytes === undefined ? Effect.void : store.write(`recordings/1/${name}/a.bin`, bytes)
    )
  ).pipe(Effect.provide(files))
)

/** Works like the silent voice, and counts its requests. */
const makeTts = () => {
  const asked: Array<string> = []
  const tts = Layer.effect(
    Tts,
    Effect.map(Tts, (silent) => ({
      ...silent,
      speak: (text: string) =>
        Effect.suspend(() => {
          asked.push(text)
          return silent.speak(text)
        })
    }))
  ).pipe(Layer.provide(Tts.layerSilent))
  return { asked, tts }
}

/** One call with that many frames, whose phone rang before. With `speaks`, it starts when the voice is asked to speak to the callee. */
const call = async (changes: Partial<VoicePlan>, { frames = 60, speaks = false } = {}) => {
  const line = loopback()
  const { asked, tts } = makeTts()
  const { emit, events } = eventsOf()
  const { reads, recorded } = makeRecorded()
  const given = { ...plan, record: false, detectMachine: false, ...changes }
  const { readsBefore, report } = await calling(
    line,
    Effect.gen(function* () {
      const agent = yield* VoiceAgent
      yield* agent.prepare(given)
      const readsBefore = reads.length
      const prepared = asked.length
      const session = yield* agent.attach(given, line.media, emit)
      if (speaks) yield* Effect.promise(() => untilTrue("greeting that is spoken", () => asked.length > prepared))
      line.talk(frames)
      return { readsBefore, report: yield* session.finish }
    }),
    { recorded, tts }
  )
  return { asked, events, heard: Buffer.concat(line.sent), reads, readsBefore, report, sent: line.sent }
}

t.test("given a recorded greeting, when the callee answers, then it is heard at once, and reported by its transcript", async (t) => {
  const { asked, events, heard, reads, readsBefore, report, sent } = await call({ recording: named("ra-wav") })
  t.ok(heard.subarray(0, samples.length).equals(encodeFrames(samples)), "sample by sample")
  t.ok(sent.slice(25).every(isNoise), "and nothing after it")
  t.strictSame([readsBefore, reads.length], [1, 1], "it was decoded while the phone rang")
  t.strictSame(events, [{ _tag: "GreetingSpoken" }])
  t.match(report.transcriptText, / assistant: Good morning, this is Ada of Acme\n$/)
  t.strictSame([asked, report.usage.tts], [[], {}], "nothing was synthesized")
  t.match(report.events, [{ type: "rtf-bot-text" }, { type: "rtf-ttfb-metric", payload: { processor: "recording", model: "ra-wav" } }])
})

t.test("given a callee who hangs up during the recording, then only what was heard counts as said", async (t) => {
  const { report } = await call({ recording: named("ra-wav") }, { frames: 13 })
  t.match(report.transcriptText, / assistant: Good morning,\n$/)
})

t.test("given a recording by its primary key, when the callee answers, then it is heard", async (t) => {
  const { heard } = await call({ recording: { _tag: "Id", id: RecordingId.make(0) } })
  t.ok(heard.subarray(0, samples.length).equals(encodeFrames(samples)))
})

t.test("given an MP3, with or without a tag before it, when it is played, then its tone is heard", async (t) => {
  for (const name of ["ra-mp3", "ra-tagged"]) {
    const { heard } = await call({ recording: named(name) })
    const middle = decode(heard).subarray(1200, 2800)
    const parts = [0, Math.PI / 2].map((turn) =>
      middle.reduce((sum, sample, at) => sum + sample * Math.sin((2 * Math.PI * at) / 16 + turn), 0)
    )
    const loudness = (2 * Math.hypot(...parts)) / middle.length
    t.ok(Math.abs(loudness - 12_000) < 600, `${name}: ${loudness}`)
  }
})

t.test("given a recording that cannot be played, when the callee answers, then the text is spoken, and the run says so", async (t) => {
  const spoken = (await call({})).heard
  const problem = {
    error: /^The recorded greeting could not be played: (there is no|the recording's|nothing could)/,
    fatal: false,
    processor: "recording"
  }
  for (const name of ["ra-unknown", "ra-gone", "ra-text", "ra-empty", "ra-cut"]) {
    const { heard, report } = await call({ recording: named(name) }, { speaks: true })
    t.ok(heard.equals(spoken), `${name}: what is heard is the spoken greeting`)
    t.match(
      report.events.find((event) => "type" in event && event.type === "rtf-pipeline-error"),
      { payload: problem },
      name
    )
    t.match(report.transcriptText, / assistant: Hello and good morning to you\n$/, name)
  }
  const foreign = await call({ recording: named("ra-wav"), organizationId: OrganizationId.make(2) }, { speaks: true })
  t.ok(foreign.heard.equals(spoken), "another organization's is no better")
})

t.test("given such a recording and no text, when the callee answers, then nothing is said", async (t) => {
  const { events, report, sent } = await call({ recording: named("ra-unknown"), greeting: undefined })
  t.ok(sent.length === 60 && sent.every(isNoise))
  t.strictSame([events, report.transcriptText, report.firstAudioMillis], [[], "", undefined])
})

t.test("given one recording for many calls at once, when they begin, then it is decoded once", async (t) => {
  const { reads, recorded } = makeRecorded()
  const lengths = await Effect.runPromise(
    RecordedSpeech.use(({ find }) =>
      Effect.gen(function* () {
        const together = yield* Effect.all(
          Array.from({ length: 20 }, () => find(ours, named("ra-wav"))),
          { concurrency: "unbounded" }
        )
        return [...together, yield* find(ours, named("ra-wav"))].map(({ speech }) => speech.length)
      })
    ).pipe(Effect.provide(recorded))
  )
  t.strictSame([reads.length, new Set(lengths)], [1, new Set([samples.length])])
})

t.test(
  "given a file without sound, when it is asked for again, then it is read once in five minutes, whatever the time of day",
  async (t) => {
    const { reads, recorded } = makeRecorded()
    const readsAfter: Array<number> = []
    await Effect.runPromise(
      Effect.gen(function* () {
        const clock = yield* Clock.Clock
        const set = { steadyMillis: 0, wallMillis: 0 }
        const turned: Clock.Clock = Object.create(clock, {
          currentTimeMillisUnsafe: { value: () => clock.currentTimeMillisUnsafe() + set.wallMillis },
          currentTimeMillis: { get: () => Effect.sync(() => clock.currentTimeMillisUnsafe() + set.wallMillis) },
          monotonicTimeNanosUnsafe: { value: () => clock.monotonicTimeNanosUnsafe() + BigInt(set.steadyMillis) * 1_000_000n }
        })
        const ask = Effect.gen(function* () {
          yield* Effect.flip(RecordedSpeech.use(({ find }) => find(ours, named("ra-text"))))
          readsAfter.push(reads.length)
        }).pipe(Effect.provideService(Clock.Clock, turned))
        yield* ask
        set.wallMillis = 3_600_000
        yield* ask
        set.steadyMillis = 300_001
        set.wallMillis = -3_600_000
        yield* ask
      }).pipe(Effect.provide(recorded))
    )
    t.strictSame(readsAfter, [1, 1, 2])
  }
)

t.test(
  "given an MP3 with wrong bytes in it, when it is decoded, then there is sound for the rest of it, and for the next recording",
  async (t) => {
    const { recorded } = makeRecorded()
    const lengths = await Effect.runPromise(
      RecordedSpeech.use(({ find }) => Effect.forEach(["ra-broken", "ra-mp3"], (name) => find(ours, named(name)))).pipe(
        Effect.map((lines) => lines.map(({ speech }) => speech.length / 8000)),
        Effect.provide(recorded)
      )
    )
    const [all = 0, one = 0] = lengths
    t.ok(all > 5 && all < 12 && one > 0.4 && one < 0.7, lengths.join(", "))
  }
)

t.test("given a long recording that is being decoded, when frames are due in the meantime, then they are sent", async (t) => {
  const long = wavOf({ tag: 1, bits: 16, channels: 1, rate: 44_100 }, Buffer.from(tone(110, 44_100).buffer))
  const { recorded } = makeRecorded()
  await Effect.runPromise(Files.use((store) => store.write("recordings/1/ra-gone/a.bin", long)).pipe(Effect.provide(files)))
  let turns = 0
  const counting = Effect.gen(function* () {
    yield* Effect.sleep(1)
    turns++
  })
  const { speech } = await Effect.runPromise(
    RecordedSpeech.use(({ find }) => Effect.raceFirst(find(ours, named("ra-gone")), Effect.forever(counting))).pipe(
      Effect.provide(recorded)
    )
  )
  t.ok(speech.length >= 109 * 8000)
  t.ok(turns > 10, `the event loop turned ${turns} times`)
})
