/** What counts as the beep of an answering machine, and what only resembles one. */
import t from "tap"
import { makeAmd } from "#runtime/voice/Amd.ts"
import { encode } from "#core/audio/Mulaw.ts"
import { pcm } from "#test/support/pcm.ts"

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

/** Starts after 300 ms, and is followed by silence; `noise` is its root mean square. */
const judge = (sound: Int16Array, noise = 10): { readonly verdict: string; readonly millis: number } => {
  let seed = 1
  const hiss = () => (seed = (Math.imul(seed, 1664525) + 1013904223) >>> 0) / 0x80000000 - 1
  const before = lead * rate
  const line = encode(
    Int16Array.from(
      { length: before + sound.length + 2 * rate },
      (_, index) => (sound[index - before] ?? 0) + hiss() * noise * Math.sqrt(3)
    )
  )
  const amd = makeAmd()
  for (let at = 0; at + 160 <= line.length; at += 160) {
    const verdict = amd.push(pcm(line.subarray(at, at + 160)), at / 8)
    if (verdict !== undefined) return { verdict, millis: at / 8 - lead * 1000 }
  }
  return { verdict: "none", millis: 0 }
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

t.test("a beep that starts and ends softly is a beep", async (t) => {
  const fading: Part = (at) => ({ hz: 1000, amplitude: 6000 * Math.min(1, at / 0.03, (0.45 - at) / 0.03) })
  t.equal(judge(soundOf(0.45, [fading])).verdict, "machine")
})

t.test("a voice that glides is a person, though each frame of it resembles the one before", async (t) => {
  const check = (name: string, seconds: number, ...parts: ReadonlyArray<Part>) =>
    t.equal(judge(soundOf(seconds, parts)).verdict, "human", name)
  const gliding =
    (from: number, perSecond: number): Part =>
    (at) => ({ hz: from + perSecond * at, amplitude: 6000 })
  check("falling by an octave in half a second", 0.5, gliding(800, -800))
  check("falling slowly", 0.5, gliding(480, -120))
  check("rising, as at the end of a question", 0.4, gliding(380, 300))
  check(
    "a vowel above its fundamental",
    0.6,
    (at) => ({ hz: 420 - 150 * at, amplitude: 6000 }),
    (at) => ({
      hz: 210 - 75 * at,
      amplitude: 400
    })
  )
})

t.test("a hum that swells is a person", async (t) => {
  const swelling: Part = (at) => ({ hz: 400, amplitude: 1500 * 2 ** (4 * at) })
  t.equal(judge(soundOf(0.6, [swelling])).verdict, "human")
})

t.test("pressed keys are not a beep", async (t) => {
  const rows = [697, 770, 852, 941]
  const columns = [1209, 1336, 1477, 1633]
  const verdicts = rows.flatMap((row) => columns.map((column) => judge(soundOf(0.4, [steady(row, 4000), steady(column, 4000)])).verdict))
  t.strictSame(
    verdicts,
    verdicts.map(() => "human")
  )
})
