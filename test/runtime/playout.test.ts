/** What the callee hears of the agent, and what the agent is told about it: pieces, stops, pauses, and the end of an utterance. */
import fc from "fast-check"
import t from "tap"
import type { MediaStream } from "#core/provider/Media.ts"
import { Playout } from "#runtime/voice/Playout.ts"
import { openLine } from "#runtime/voice/VoiceLine.ts"
import { forAllOf } from "#test/support/forAll.ts"
import { isNoise, type Loopback, loopback } from "#test/support/voiceScene.ts"

const ignore = () => {}
const deaf = { verdict: ignore, moment: ignore, skipped: ignore, closed: ignore, failed: ignore }

const lineOver = (callee: Loopback, media: MediaStream = callee.media) =>
  openLine(media, callee.pacer, deaf, { recording: undefined, detectMachine: false })

/** Speech that differs in each frame and each piece, and is never mistaken for noise. */
const speech = (frames: number, piece = 0) => Uint8Array.from({ length: frames * 160 }, (_, at) => (at * 7 + piece * 31) % 90)
const bytesOf = (frames: ReadonlyArray<Uint8Array>) => [...Buffer.concat(frames.filter((frame) => !isNoise(frame)))]

t.test("given a carrier that plays 60 ms late, when the agent is stopped, then exactly what is reported has been heard", async (t) => {
  const callee = loopback(3)
  const { playout } = lineOver(callee)
  playout.append(playout.epoch(), speech(20))
  callee.talk(13)
  const played = playout.stop()
  callee.talk(20)
  t.equal(played?.bytes, 10 * 160)
  t.strictSame(bytesOf(callee.heard), [...speech(20).subarray(0, 10 * 160)])
})

t.test("given a frame that is sent late, when its speech was made since it was due, then that began when it was made", async (t) => {
  const playout = new Playout(() => 114)
  const begun: Array<number> = []
  playout.append(playout.epoch(), speech(5), { begun: (at) => begun.push(at) })
  playout.take(100)
  playout.append(playout.epoch(), speech(5, 1), { begun: (at) => begun.push(at) })
  for (let due = 120; due <= 200; due += 20) playout.take(due)
  t.strictSame(begun, [114, 200])
})

t.test("given a stopped utterance, when pieces of it arrive late, then they are dropped, and the next one is heard", async (t) => {
  const callee = loopback()
  const { playout } = lineOver(callee)
  const stopped = playout.epoch()
  t.ok(playout.append(stopped, speech(5)))
  playout.stop()
  t.notOk(playout.append(stopped, speech(5, 1)))
  playout.finish(stopped, () => t.fail("an utterance that was stopped is not finished"))
  playout.append(playout.epoch(), speech(5, 2))
  callee.talk(20)
  t.strictSame(bytesOf(callee.heard), [...speech(5, 2)])
  t.equal(playout.played()?.bytes, 5 * 160, "counting begins again")
})

t.test("given a pause within a frame, when the agent continues, then it starts with the first sample that was not heard", async (t) => {
  const check = (name: string, frames: number, lag: number | "untold") => {
    const callee = loopback(lag)
    const { playout } = lineOver(callee)
    playout.append(playout.epoch(), speech(8))
    playout.append(playout.epoch(), speech(8, 1))
    callee.talk(frames)
    callee.stall(7)
    playout.pause()
    const heard = playout.played()?.bytes ?? 0
    const before = callee.sent.length
    callee.talk(10)
    t.ok(callee.sent.slice(before).every(isNoise), `${name}: silence meanwhile`)
    playout.resume()
    callee.talk(30)
    const all = [...speech(8), ...speech(8, 1)]
    t.strictSame(bytesOf(callee.sent.slice(before)).slice(0, all.length - heard), all.slice(heard), name)
    return heard
  }
  t.equal(check("no marks", 5, "untold"), 5 * 160)
  t.equal(check("marks", 6, 3), 3 * 160 + 7 * 8)
  t.equal(check("into the second piece", 12, 2), 10 * 160 + 7 * 8)
  t.equal(check("nothing heard yet", 2, 5), 0)
})

t.test("given an utterance, when it is reported as played, then the callee has heard all of it", async (t) => {
  const check = (name: string, lag: number | "untold", expected: ReadonlyArray<string>) => {
    const callee = loopback(lag)
    const { playout } = lineOver(callee)
    const told: Array<string> = []
    const tell = (what: string) => () => told.push(`${what}: ${bytesOf(callee.heard).length / 160} heard, ${callee.sent.length} sent`)
    playout.append(playout.epoch(), speech(4), { played: tell("first") })
    playout.append(playout.epoch(), speech(6, 1), { played: tell("second") })
    playout.finish(playout.epoch(), tell("all"))
    callee.talk(60)
    t.strictSame(told, expected, name)
  }
  check("at once", 0, ["first: 4 heard, 4 sent", "second: 10 heard, 10 sent", "all: 10 heard, 11 sent"])
  check("what the carrier still buffers is waited for", 12, [
    "first: 4 heard, 16 sent",
    "second: 10 heard, 22 sent",
    "all: 10 heard, 23 sent"
  ])
  check("half a second after it was sent, where no carrier tells", "untold", [
    "first: 10 heard, 29 sent",
    "second: 10 heard, 35 sent",
    "all: 10 heard, 35 sent"
  ])
})

t.test("given no speech at all, when the utterance is finished, then that is reported at once", async (t) => {
  const callee = loopback()
  const { playout } = lineOver(callee)
  let told = 0
  playout.finish(playout.epoch(), () => told++)
  callee.talk(3)
  t.equal(told, 1)
})

t.test("given a carrier that never reports marks, when the agent is stopped, then all that was sent counts as heard", async (t) => {
  const callee = loopback("untold")
  const { playout } = lineOver(callee, { ...callee.media, mark: () => true })
  playout.append(playout.epoch(), speech(200))
  callee.talk(150)
  t.equal(playout.stop()?.bytes, 150 * 160)
})

t.test("given marks that were lost with a stream, when another one continues, then the end of the utterance is reported", async (t) => {
  const [first, second] = [loopback(50), loopback()]
  const line = lineOver(first)
  let told = 0
  line.playout.append(line.playout.epoch(), speech(10))
  line.playout.finish(line.playout.epoch(), () => told++)
  first.talk(12)
  first.end("replaced", "replaced")
  line.resume(second.media)
  first.talk(40)
  t.equal(told, 1)
})

/** The actions of a call, each of which takes place in a tick. */
const acts = fc.array(
  fc.oneof(
    { weight: 6, arbitrary: fc.record({ do: fc.constant("talk" as const), frames: fc.integer({ min: 1, max: 30 }) }) },
    { weight: 3, arbitrary: fc.record({ do: fc.constant("append" as const), frames: fc.integer({ min: 1, max: 40 }) }) },
    fc.record({ do: fc.constantFrom("pause" as const, "resume" as const, "stop" as const), frames: fc.constant(0) })
  ),
  { maxLength: 60, size: "max" }
)

t.test("whatever is appended, paused and stopped, each utterance is heard up to the sample that is told, once and in order", async () => {
  forAllOf({ numRuns: 400 }, acts, fc.integer({ min: 0, max: 12 }), (all, lag) => {
    const callee = loopback(lag)
    const { playout } = lineOver(callee)
    const expected: Array<number> = []
    let utterance: Array<number> = []
    let pieces = 0
    const stop = () => {
      expected.push(...utterance.slice(0, playout.stop()?.bytes ?? 0))
      utterance = []
    }
    for (const { do: act, frames } of all) {
      if (act === "talk") callee.talk(frames)
      if (act === "pause" || act === "resume") playout[act]()
      if (act === "stop") stop()
      if (act !== "append") continue
      utterance.push(...speech(frames, ++pieces))
      playout.append(playout.epoch(), speech(frames, pieces))
    }
    stop()
    callee.talk(20)
    return Buffer.from(bytesOf(callee.heard)).equals(Buffer.from(expected))
  })
})
