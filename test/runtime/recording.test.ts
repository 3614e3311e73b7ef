/** The recording of a call, and the queue of the callee's frames. */
import { Effect } from "effect"
import { readFile, truncate, writeFile } from "node:fs/promises"
import { join } from "node:path"
import t from "tap"
import { decodeSample, encodeSample } from "#core/audio/Mulaw.ts"
import { makeInbound } from "#runtime/voice/Inbound.ts"
import { repair, startRecording } from "#runtime/voice/Recording.ts"
import { temporaryFolder } from "#test/support/dataFolder.ts"

const frameOf = (sample: number): Uint8Array => new Uint8Array(160).fill(encodeSample(sample))

t.test("inbound frames are returned in order; if there are too many, the oldest are dropped", async (t) => {
  const onLine = (...thousands: ReadonlyArray<number>) => thousands.map((sample) => decodeSample(encodeSample(sample * 1000)))
  const inbound = makeInbound()
  const [slow, prompt] = [inbound.arrivals(), inbound.arrivals()]
  const promptly: Array<number | undefined> = []
  for (let sample = 1; sample <= 12; sample++) {
    inbound.put(frameOf(sample * 1000))
    promptly.push(prompt.take()?.samples[0])
  }
  const late = inbound.arrivals()
  t.strictSame(promptly, onLine(1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12), "whoever takes each as it arrives misses none")
  t.strictSame([slow.waiting(), prompt.waiting(), late.waiting()], [10, 0, 0])
  const taken = Array.from({ length: 11 }, () => slow.take()?.samples[0])
  t.strictSame(taken, [...onLine(3, 4, 5, 6, 7, 8, 9, 10, 11, 12), undefined])
  t.strictSame([prompt.take(), late.take()], [undefined, undefined])
})

t.test("a recording", async (t) => {
  const folder = temporaryFolder(t)
  const readSides = async (path: string) => {
    const wav = await readFile(path)
    const pair = (at: number) => [wav.readInt16LE(at), wav.readInt16LE(at + 2)]
    const samples = Array.from({ length: (wav.length - 44) / 4 }, (_, index) => pair(44 + index * 4))
    return { wav, at: (tick: number) => samples[tick * 160 + 80], ticks: samples.length / 160 }
  }
  const [callee, agent, nothing] = [frameOf(4000), frameOf(-9000), frameOf(0)]
  const [left, right] = [decodeSample(encodeSample(4000)), decodeSample(encodeSample(-9000))]

  t.test("has the callee left and the agent right, tick by tick, and a complete header", async (t) => {
    const path = join(folder, "new", "1.wav")
    const recording = startRecording(path)
    const inbound = makeInbound()
    recording.hear(inbound.arrivals())
    for (let tick = 0; tick < 120; tick++) {
      if (tick < 60) inbound.put(callee)
      recording.push(tick < 30 ? nothing : agent)
    }
    recording.skip(5)
    inbound.put(callee)
    recording.push(agent)
    t.equal(await Effect.runPromise(recording.close), 126 * 0.02)
    const { at, ticks, wav } = await readSides(path)
    const isAt = (ticks: ReadonlyArray<number>, ...sides: ReadonlyArray<number>) => {
      for (const tick of ticks) t.strictSame(at(tick), sides, `tick ${tick}`)
    }
    isAt([0, 29], left, 0)
    isAt([30, 59, 125], left, right)
    isAt([60, 119], 0, right)
    isAt([120, 124], 0, 0)
    t.equal(ticks, 126)
    t.strictSame([wav.readUInt16LE(22), wav.readUInt32LE(24), wav.readUInt16LE(34)], [2, 8000, 16], "channels, rate and bits")
    t.strictSame([wav.readUInt32LE(4), wav.readUInt32LE(40)], [wav.length - 8, 126 * 640], "lengths")
  })
  t.test("lets the callee's late audio end at the current tick, as far back as nothing was heard", async (t) => {
    const path = join(folder, "late.wav")
    const recording = startRecording(path)
    const inbound = makeInbound()
    recording.hear(inbound.arrivals())
    inbound.put(frameOf(1000))
    for (let tick = 0; tick < 4; tick++) recording.push(agent)
    for (const sample of [2000, 3000, 4000]) inbound.put(frameOf(sample))
    recording.push(agent)
    await Effect.runPromise(recording.close)
    const { at } = await readSides(path)
    const heard = [1000, 0, 2000, 3000, 4000].map((sample) => decodeSample(encodeSample(sample)))
    for (const [tick, sample] of heard.entries()) t.equal(at(tick)?.[0], sample, `tick ${tick}`)
  })
  t.test("left open by a dead process, it is repaired from its size, once", async (t) => {
    const path = join(folder, "2.wav")
    const recording = startRecording(path)
    for (let tick = 0; tick < 50; tick++) recording.push(agent)
    await Effect.runPromise(recording.close)
    const wav = await readFile(path)
    wav.writeUInt32LE(0xffffffff, 4)
    wav.writeUInt32LE(0xffffffff, 40)
    await writeFile(path, wav)
    await truncate(path, wav.length - 321)
    t.equal(await Effect.runPromise(repair(path)), true)
    const repaired = await readFile(path)
    const length = wav.length - 324
    t.strictSame([repaired.length, repaired.readUInt32LE(40), repaired.readUInt32LE(4)], [length, length - 44, length - 8])
    t.equal(await Effect.runPromise(repair(path)), false)
  })
  t.test("a file that is not a recording is not touched", async (t) => {
    const path = join(folder, "3.wav")
    await writeFile(path, "not a wav")
    const failure = await Effect.runPromise(Effect.flip(repair(path)))
    t.equal(failure._tag, "RecordingBroken")
    t.equal(await readFile(path, "utf8"), "not a wav")
  })
  t.test("without a place to write, close fails and ticks do not", async (t) => {
    await writeFile(join(folder, "file"), "")
    const recording = startRecording(join(folder, "file", "4.wav"))
    for (let tick = 0; tick < 500; tick++) recording.push(agent)
    const failure = await Effect.runPromise(Effect.flip(recording.close))
    t.equal(failure._tag, "RecordingBroken")
  })
})
