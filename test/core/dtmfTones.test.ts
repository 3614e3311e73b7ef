/** Keys heard by their tones: all of them, on good and bad lines, and none in speech and noise. */
import t from "tap"
import { makeDtmfTones } from "#core/audio/DtmfTones.ts"
import { fliteClips, promptsUnavailable, recordedClips } from "#test/support/prompts.ts"
import { after, framesOf, hiss, nothing, over, type Sound, tone } from "#test/support/sound.ts"

const reason = await promptsUnavailable()

const low: Readonly<Record<string, number>> = { 1: 697, 2: 697, 3: 697, A: 697, 4: 770, 5: 770, 6: 770, B: 770 }
const lower: Readonly<Record<string, number>> = { 7: 852, 8: 852, 9: 852, C: 852, "*": 941, 0: 941, "#": 941, D: 941 }
const lowOf = (key: string) => low[key] ?? lower[key] ?? 0
const highOf = (key: string) => [1209, 1336, 1477, 1633].find((_, column) => ["147*", "2580", "369#", "ABCD"][column]?.includes(key)) ?? 0

const heardIn = (sound: Sound): string => {
  const tones = makeDtmfTones()
  let heard = ""
  for (const frame of framesOf(sound)) heard += tones.push(frame) ?? ""
  return heard
}

interface Press {
  readonly millis?: number
  readonly gap?: number
  readonly amplitude?: number
  /** The level of the high tone relative to the low one, in decibels. */
  readonly twist?: number
  /** The deviation, as a share of the frequency. */
  readonly offset?: number
  /** How much later than a frame the tones begin. */
  readonly shift?: number
}
const pressed = (keys: string, { amplitude = 4000, gap = 40, millis = 40, offset = 0, shift = 0, twist = 0 }: Press = {}) =>
  after(
    nothing(100 + shift),
    ...Array.from(keys, (key) =>
      after(
        tone(millis, [lowOf(key) * (1 + offset), amplitude], [highOf(key) * (1 + offset), amplitude * 10 ** (twist / 20)]),
        nothing(gap)
      )
    ),
    nothing(100)
  )

const all = "1234567890*#ABCD"

t.test("given a clean line, when keys are pressed as briefly as phones do, then each is heard once", async (t) => {
  for (const shift of [0, 3, 7, 11, 16]) t.equal(heardIn(pressed(all, { shift })), all, `${shift} ms into a frame`)
  t.equal(heardIn(pressed("1199000", { millis: 50, gap: 45 })), "1199000", "the same key again")
  t.equal(heardIn(pressed("5", { millis: 3000 })), "5", "a key that is held")
})

t.test("given tones as networks change them, when keys are pressed, then they are heard within the limits, and not beyond", async (t) => {
  const check = (name: string, press: Press, expected: string) => t.equal(heardIn(pressed(all, { millis: 80, ...press })), expected, name)
  check("1.5 % high", { offset: 0.015 }, all)
  check("1.5 % low", { offset: -0.015 }, all)
  check("high tones weaker", { twist: -6 }, all)
  check("high tones stronger", { twist: 8 }, all)
  check("high tones too weak", { twist: -9 }, "")
  check("high tones too strong", { twist: 11 }, "")
  check("faint", { amplitude: 400 }, all)
  check("an echo", { amplitude: 60 }, "")
})

t.test("given noise, when keys are pressed for 80 ms, then all are heard", async (t) => {
  const check = (decibels: number) => {
    const sound = pressed(all.repeat(5), { millis: 80, gap: 60 })
    const noise = hiss((sound.length / 8000) * 1000, 4000 / 10 ** (decibels / 20), decibels)
    t.equal(heardIn(over(sound, noise)), all.repeat(5), `${decibels} dB`)
  }
  check(20)
  check(10)
})

t.test("given any sound but keys, then no key is heard", async (t) => {
  t.equal(heardIn(hiss(60_000, 3000)), "", "noise")
  t.equal(heardIn(tone(3000, [440, 6000])), "", "a dial tone")
  t.equal(heardIn(tone(3000, [440, 4000], [480, 4000])), "", "a ringing tone")
  t.equal(heardIn(tone(3000, [1336, 8000])), "", "one tone")
  t.equal(heardIn(tone(3000, [697, 4000], [1209, 4000], [1394, 4000])), "", "a tone with its octave")
  t.equal(heardIn(tone(3000, [697, 4000], [852, 4000])), "", "two tones of one group")
})

t.test("given more than an hour of speech, then no key is heard", { skip: reason !== undefined && reason }, async (t) => {
  const sentences = [
    "Hello, this is Anna from the bank. How are you today?",
    "You owe us one hundred and seventy five dollars and twenty cents. Would you like to pay it now?",
    "Oh, uh huh, well, no. I am busy right now, call me back on Tuesday at noon.",
    "Please leave a message after the tone, and we will return your call as soon as we can. Thank you, good bye."
  ]
  const found: Array<string> = []
  let seconds = 0
  const listen = (name: string, samples: Int16Array) => {
    seconds += samples.length / 8000
    const heard = heardIn(samples)
    if (heard !== "") found.push(`${name}: ${heard}`)
  }
  for (const { name, samples, voice } of fliteClips(sentences)) listen(`${voice} ${name}`, samples)
  // Every other recording has all six voices, and is more than an hour.
  let place = 0
  for (const { name, samples, voice } of recordedClips())
    if (place++ % 2 === 0 && !/dtmf|tone|beep/.test(name)) listen(`${voice} ${name}`, samples)
  t.strictSame(found, [], `${Math.round(seconds)} s`)
  t.ok(seconds > 3600, `${Math.round(seconds)} s`)
})
