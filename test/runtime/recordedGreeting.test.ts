/** Calls that open with a recording: what is heard, what the run says, and what happens if the recording cannot be played. */
import { Clock, Effect, Layer } from "effect"
import { readFile } from "node:fs/promises"
import t from "tap"
import { OrganizationId } from "#core/Id.ts"
import { PlayedRecordings } from "#core/recording/PlayedRecordings.ts"
import { RecordingBytes } from "#runtime/storage/RecordingBytes.ts"
import { Files } from "#runtime/storage/Files.ts"
import { decode, encodeFrames } from "#core/audio/Mulaw.ts"
import { untilTrue } from "#test/support/engine.ts"
import { RecordedSpeech } from "#runtime/voice/RecordedSpeech.ts"
import type { VoicePlan } from "#runtime/voice/VoiceSession.ts"
import { isNoise, type Opening } from "#test/support/voiceScene.ts"
import { phoneWav, tone, wavOf } from "#test/support/wav.ts"
import { notedTts, voiceIn } from "./callVoice.ts"

const { attached, files } = await voiceIn(t)

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

const text = "Hello and good morning to you"
interface How {
  readonly frames?: number
  readonly plan?: Partial<VoicePlan>
  readonly speaks?: boolean
}
/** One call with that many frames, whose phone rang before. With `speaks`, it starts when the voice is asked to speak to the callee. */
const call = async (opening: Opening, { frames = 60, plan = {}, speaks = false }: How = {}) => {
  const { asked, tts } = notedTts()
  const { reads, recorded } = makeRecorded()
  let before = { asked: 0, reads: 0 }
  const prepared = () => {
    before = { asked: asked.length, reads: reads.length }
  }
  const { events, kept, line } = await attached(
    {
      opening: { greeting: text, ...opening },
      plan: { record: false, detectMachine: false, ...plan },
      prepared,
      voices: { recorded, tts }
    },
    function* ({ line }) {
      if (speaks) yield* Effect.promise(() => untilTrue("greeting that is spoken", () => asked.length > before.asked))
      line.talk(frames)
    }
  )
  return { asked, events, heard: Buffer.concat(line.sent), reads, readsBefore: before.reads, kept, sent: line.sent }
}
/** Finds what is played, as calls do. */
const finding = <A, E>(recorded: Layer.Layer<RecordedSpeech>, use: (find: RecordedSpeech["Service"]["find"]) => Effect.Effect<A, E>) =>
  Effect.runPromise(RecordedSpeech.use(({ find }) => use(find)).pipe(Effect.provide(recorded)))

t.test("given a recorded greeting, when the callee answers, then it is heard at once, and reported by its transcript", async (t) => {
  const { asked, events, heard, reads, readsBefore, kept, sent } = await call({ recordingId: "ra-wav" })
  t.ok(heard.subarray(0, samples.length).equals(encodeFrames(samples)), "sample by sample")
  t.ok(sent.slice(25).every(isNoise), "and nothing after it")
  t.strictSame([readsBefore, reads.length], [1, 1], "it was decoded while the phone rang")
  t.strictSame(events, [])
  t.match(kept.transcript, / assistant: Good morning, this is Ada of Acme\n$/)
  t.strictSame([asked, kept.usage.tts], [[], {}], "nothing was synthesized")
  const first = kept.events.find(({ type }) => type === "rtf-stage-metric")
  t.match(first, { payload: { processor: "recording", model: "ra-wav" } })
})

t.test("given a callee who hangs up during the recording, then only what was heard counts as said", async (t) => {
  const { kept } = await call({ recordingId: "ra-wav" }, { frames: 13 })
  t.match(kept.transcript, / assistant: Good morning,\n$/)
})

t.test("given an MP3, with or without a tag before it, when it is played, then its tone is heard", async (t) => {
  for (const name of ["ra-mp3", "ra-tagged"]) {
    const { heard } = await call({ recordingId: name })
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
    error: /^A recording could not be played: (there is no|the recording's|nothing could)/,
    fatal: false,
    processor: "recording"
  }
  for (const name of ["ra-unknown", "ra-gone", "ra-text", "ra-empty", "ra-cut"]) {
    const { heard, kept } = await call({ recordingId: name }, { speaks: true })
    t.ok(heard.equals(spoken), `${name}: what is heard is the spoken greeting`)
    const failure = kept.events.find((event) => "type" in event && event.type === "rtf-pipeline-error")
    t.match(failure, { payload: problem }, name)
    t.match(kept.transcript, / assistant: Hello and good morning to you\n$/, name)
  }
  const foreign = await call({ recordingId: "ra-wav" }, { speaks: true, plan: { organizationId: OrganizationId.make(2) } })
  t.ok(foreign.heard.equals(spoken), "another organization's is no better")
})

t.test("given such a recording and no text, when the callee answers, then nothing is said, and the call ends", async (t) => {
  const { events, kept, sent } = await call({ recordingId: "ra-unknown", greeting: "" })
  t.ok(sent.length === 60 && sent.every(isNoise))
  t.strictSame([events, kept.transcript], [[{ _tag: "EndWanted", cause: "agent_hangup" }], ""])
})

t.test("given one recording for many calls at once, when they begin, then it is decoded once", async (t) => {
  const { reads, recorded } = makeRecorded()
  const lengths = await finding(recorded, (find) =>
    Effect.gen(function* () {
      const one = Effect.map(find(ours, named("ra-wav")), ({ speech }) => speech.length)
      return [
        ...(yield* Effect.all(
          Array.from({ length: 20 }, () => one),
          { concurrency: "unbounded" }
        )),
        yield* one
      ]
    })
  )
  t.strictSame([reads.length, new Set(lengths)], [1, new Set([samples.length])])
})

t.test("given a file without sound, then it is read once in five minutes, however often and at whatever time of day", async (t) => {
  const { reads, recorded } = makeRecorded()
  const readsAfter: Array<number> = []
  await finding(recorded, (find) =>
    Effect.gen(function* () {
      const clock = yield* Clock.Clock
      const set = { steadyMillis: 0, wallMillis: 0 }
      const turned: Clock.Clock = Object.create(clock, {
        currentTimeMillisUnsafe: { value: () => clock.currentTimeMillisUnsafe() + set.wallMillis },
        currentTimeMillis: { get: () => Effect.sync(() => clock.currentTimeMillisUnsafe() + set.wallMillis) },
        monotonicTimeNanosUnsafe: { value: () => clock.monotonicTimeNanosUnsafe() + BigInt(set.steadyMillis) * 1_000_000n }
      })
      for (const [steadyMillis, wallMillis] of [
        [0, 0],
        [0, 3_600_000],
        [300_001, -3_600_000]
      ] as const) {
        Object.assign(set, { steadyMillis, wallMillis })
        yield* Effect.flip(find(ours, named("ra-text"))).pipe(Effect.provideService(Clock.Clock, turned))
        readsAfter.push(reads.length)
      }
    })
  )
  t.strictSame(readsAfter, [1, 1, 2])
})

t.test("given an MP3 with wrong bytes in it, then there is sound for the rest of it, and for the next recording", async (t) => {
  const { recorded } = makeRecorded()
  const [all = 0, one = 0] = await finding(recorded, (find) =>
    Effect.forEach(["ra-broken", "ra-mp3"], (name) => Effect.map(find(ours, named(name)), ({ speech }) => speech.length / 8000))
  )
  t.ok(all > 5 && all < 12 && one > 0.4 && one < 0.7, `${all}, ${one}`)
})

t.test("given a long recording that is being decoded, when frames are due in the meantime, then they are sent", async (t) => {
  const long = wavOf({ tag: 1, bits: 16, channels: 1, rate: 44_100 }, Buffer.from(tone(110, 44_100).buffer))
  await Effect.runPromise(Files.use((store) => store.write("recordings/1/ra-gone/a.bin", long)).pipe(Effect.provide(files)))
  let turns = 0
  const counting = Effect.map(Effect.sleep(1), () => turns++)
  const { speech } = await finding(makeRecorded().recorded, (find) =>
    Effect.raceFirst(find(ours, named("ra-gone")), Effect.forever(counting))
  )
  t.ok(speech.length >= 109 * 8000)
  t.ok(turns > 10, `the event loop turned ${turns} times`)
})
