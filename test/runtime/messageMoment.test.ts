/** The moment at which a message can be left. */
import t from "tap"
import { encode } from "#core/audio/Mulaw.ts"
import { makeMessageMoment } from "#runtime/voice/MessageMoment.ts"
import { pcm } from "#test/support/sound.ts"

const rate = 8000
const sounds: Readonly<Record<string, (at: number) => number>> = {
  silence: () => 0,
  /** As loud as speech, and in syllables. */
  speech: (at) => 9000 * Math.sin(at * at * 0.7) * Math.abs(Math.sin((2 * Math.PI * 2.5 * (at + 400)) / rate))
}
const tone = (hertz: number) => (at: number) => 6000 * Math.sin((2 * Math.PI * hertz * at) / rate)

/** Parts with their seconds, such as `speech 4, 1000 0.5`: speech, silence, or a tone of this frequency. */
const soundOf = (parts: string): Int16Array =>
  Int16Array.from(
    parts.split(", ").flatMap((part) => {
      const [what = "", seconds] = part.split(" ")
      const sample = sounds[what] ?? tone(Number(what))
      return Array.from({ length: Number(seconds) * rate }, (_, at) => sample(at))
    })
  )

/** What is settled, and in how many seconds since the verdict. Allows for a syllable that fades before it is over. */
const check = (why: string, parts: string, seconds: number, expected: "speak" | "give_up" = "speak", isBeeping = false) =>
  t.test(why, async (t) => {
    const moment = makeMessageMoment(isBeeping)
    const line = encode(soundOf(parts))
    let settled: string | undefined
    let at = 0
    for (; settled === undefined && at + 160 <= line.length; at += 160) settled = moment.push(pcm(line.subarray(at, at + 160)), at / 8)
    t.equal(settled, expected)
    t.ok(Math.abs((at - 160) / 8000 - seconds) <= 0.2, `${(at - 160) / 8000} s`)
  })

check("a machine is spoken to once its beep is over", "speech 4, silence 0.5, 1000 0.5, silence 5", 5.3)
check("however long it beeps", "speech 4, 440 2, silence 5", 6.3)
check("when the beep gave it away, and is nearly over", "1400 0.1, silence 5", 0.4, "speak", true)
check("a machine that never beeps is spoken to after three seconds of silence", "speech 4, silence 5", 7)
check("not in a pause", "speech 4, silence 2.5, speech 1, silence 5", 10.5)
check("a person who was taken for a machine is spoken to once they wait", "silence 1, speech 0.5, silence 2, speech 0.5, silence 4", 7)
const tones = "950 0.33, 1400 0.33, 1800 0.33"
check("tones before an announcement do not count as the beep", `${tones}, speech 3, silence 0.6, speech 2, silence 5`, 9.6)
check("an answerer who speaks for a minute is given up", "speech 62", 60, "give_up")
