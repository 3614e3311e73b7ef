/** Answering-machine detection: what counts as a beep and what only resembles one, and lines on which nothing arrives for a while. */
import t from "tap"
import { makeAmd } from "#runtime/voice/Amd.ts"
import { encode } from "#core/audio/Mulaw.ts"
import type { PcmFrame } from "#core/audio/PcmFrame.ts"
import { pcm } from "#test/support/sound.ts"

const rate = 8000
const lead = 0.3

/** A sine whose frequency and amplitude depend on the time in seconds. */
type Part = (seconds: number) => { readonly hz: number; readonly amplitude: number }
const steady =
  (hz: number, amplitude = 6000): Part =>
  () => ({ hz, amplitude })

const soundOf = (seconds: number, parts: ReadonlyArray<Part>): Int16Array => {
  const phases = parts.map(() => 0)
  return Int16Array.from({ length: Math.round(seconds * rate) }, (_, index) =>
    Math.round(
      parts.reduce((sum, part, which) => {
        const { amplitude, hz } = part(index / rate)
        phases[which] = (phases[which] ?? 0) + (2 * Math.PI * hz) / rate
        return sum + amplitude * Math.sin(phases[which] ?? 0)
      }, 0)
    )
  )
}

/** The verdict on these frames, the n-th of which arrives at `at(n)`, and when it was reached. */
const verdictOn = (frames: ReadonlyArray<PcmFrame | undefined>, at: (index: number) => number = (index) => index * 20) => {
  const amd = makeAmd()
  for (const [index, frame] of frames.entries()) {
    const verdict = amd.push(frame, at(index))
    if (verdict !== undefined) return { verdict, millis: at(index) }
  }
  return { verdict: "none", millis: 0 }
}

/** Starts after 300 ms, and is followed by silence; `noise` is its root mean square. */
const judge = (sound: Int16Array, noise = 10) => {
  let seed = 1
  const hiss = () => (seed = (Math.imul(seed, 1664525) + 1013904223) >>> 0) / 0x80000000 - 1
  const before = lead * rate
  const samples = { length: before + sound.length + 2 * rate }
  const line = encode(Int16Array.from(samples, (_, index) => (sound[index - before] ?? 0) + hiss() * noise * Math.sqrt(3)))
  const frames = Array.from({ length: Math.floor(line.length / 160) }, (_, index) => pcm(line.subarray(index * 160, index * 160 + 160)))
  const { millis, verdict } = verdictOn(frames)
  return { verdict, millis: millis - lead * 1000 }
}

t.test("a steady tone is a machine within a quarter of a second, whatever its pitch", async (t) => {
  const check = (hz: number, noise?: number) => {
    const { millis, verdict } = judge(soundOf(0.5, [steady(hz)]), noise)
    t.equal(verdict, "machine", `${hz} Hz`)
    t.ok(millis <= 240, `${hz} Hz after ${millis} ms`)
  }
  for (const hz of [400, 440, 696, 850, 950, 1000, 1100, 1400, 1800, 2100]) check(hz)
  for (const hz of [440, 1000, 1400]) check(hz, 600)
})

t.test("a sound that only resembles a beep is a person, though each frame of it resembles the one before", async (t) => {
  const check = (expected: string, name: string, seconds: number, ...parts: ReadonlyArray<Part>) =>
    t.equal(judge(soundOf(seconds, parts)).verdict, expected, name)
  const gliding =
    (from: number, perSecond: number, amplitude = 6000): Part =>
    (at) => ({ hz: from + perSecond * at, amplitude })
  const fading: Part = (at) => ({ hz: 1000, amplitude: 6000 * Math.min(1, at / 0.03, (0.45 - at) / 0.03) })
  check("machine", "a beep that starts and ends softly", 0.45, fading)
  check("human", "a voice that falls by an octave in half a second", 0.5, gliding(800, -800))
  check("human", "one that falls slowly", 0.5, gliding(480, -120))
  check("human", "one that rises, as at the end of a question", 0.4, gliding(380, 300))
  check("human", "a vowel above its fundamental", 0.6, gliding(420, -150), gliding(210, -75, 400))
  check("human", "a hum that swells", 0.6, (at) => ({ hz: 400, amplitude: 1500 * 2 ** (4 * at) }))
  for (const row of [697, 770, 852, 941])
    for (const column of [1209, 1336, 1477, 1633])
      check("human", `the key of ${row} and ${column} Hz`, 0.4, steady(row, 4000), steady(column, 4000))
})

const speech = pcm(encode(Int16Array.from({ length: 160 }, (_, at) => 9000 * Math.sin(at * at))))
const quiet = pcm(encode(new Int16Array(160)))
type Frames = ReadonlyArray<PcmFrame | undefined>
const frames = (seconds: number, frame: PcmFrame | undefined): Frames => Array.from({ length: seconds * 50 }, () => frame)
const nothing = (seconds: number) => frames(seconds, undefined)
const silence = (seconds: number) => frames(seconds, quiet)
/** Speech in syllables. */
const speaks = (seconds: number): Frames => Array.from({ length: seconds * 50 }, (_, at) => (at % 10 === 9 ? quiet : speech))

t.test("a machine is still a machine, and a person a person, on a line on which nothing arrives for a while", async (t) => {
  /** The verdict on what follows a second of which the line sends silence for `before` seconds. */
  const check = (expected: string, name: string, before: number, ...parts: ReadonlyArray<Frames>) => {
    const lead = Array.from({ length: 50 }, (_, at) => (at < before * 50 ? quiet : undefined))
    t.equal(verdictOn([...lead, ...parts.flat()]).verdict, expected, `${name}, after ${before} s of silence`)
  }
  check("machine", "a machine whose audio stops for a second", 1, speaks(1.5), nothing(1), speaks(2))
  check("machine", "or for long, if the line has sent silence", 1, speaks(1.5), nothing(5), speaks(2))
  check("human", "a person who stops on a line that has sent silence, in the end", 1, speaks(0.6), nothing(7))
  for (const before of [0, 0.2]) {
    check("human", "a person on a line that does not send silence", before, speaks(0.6), nothing(3))
    check("machine", "a machine whose audio stops in the middle of a word", before, speaks(1.5), [speech], nothing(4), speaks(2))
  }
  const pauses = [silence(0.3), nothing(1.2), silence(0.3)].flat()
  for (const before of [0.24, 1])
    check("machine", "a machine in each of whose pauses the line stalls", before, speaks(0.8), pauses, speaks(0.8), pauses, speaks(1.5))
  const stalling = [silence(0.2), nothing(0.06), silence(0.2)].flat()
  check("machine", "a line that stalls while it sends its first silence", 0, stalling, speaks(1.5), nothing(3), speaks(2))

  const stands = [...silence(1), ...speaks(1.5), ...silence(0.1), ...speaks(2)]
  const standstill = verdictOn(stands, (index) => index * 20 + (index < 125 ? 0 : 1000))
  t.equal(standstill.verdict, "machine", "a machine when this process has stood still for a second, and then hears a pause")
})
