/** The moment at which a message can be left. */
import t, { type Test } from "tap"
import { encode } from "#core/audio/Mulaw.ts"
import { makeMessageMoment } from "#runtime/voice/MessageMoment.ts"
import { pcm } from "#test/support/pcm.ts"

const rate = 8000
/** Each part with its seconds: sound as loud as speech and in syllables, silence, or a tone of this frequency. */
type Part = readonly ["speech" | "silence" | number, number]

const soundOf = (parts: ReadonlyArray<Part>): Int16Array =>
  Int16Array.from(
    parts.flatMap(([what, seconds]) =>
      Array.from({ length: seconds * rate }, (_, at) => {
        if (what === "silence") return 0
        return typeof what === "number"
          ? 6000 * Math.sin((2 * Math.PI * what * at) / rate)
          : 9000 * Math.sin(at * at * 0.7) * Math.abs(Math.sin((2 * Math.PI * 2.5 * (at + 400)) / rate))
      })
    )
  )

/** In seconds since the verdict. */
const momentOf = (parts: ReadonlyArray<Part>, isBeeping = false) => {
  const moment = makeMessageMoment(isBeeping)
  const line = encode(soundOf(parts))
  for (let at = 0; at + 160 <= line.length; at += 160) {
    const settled = moment.push(pcm(line.subarray(at, at + 160)), at / 8)
    if (settled !== undefined) return { settled, seconds: at / 8000 }
  }
  return { settled: "not yet", seconds: 0 }
}
/** Allows for a syllable that fades before it is over. */
const isAbout = (t: Test, { seconds, settled }: ReturnType<typeof momentOf>, expected: ReturnType<typeof spoken>, why = "") => {
  t.equal(settled, expected.settled, why)
  t.ok(Math.abs(seconds - expected.seconds) <= 0.2, `${why} ${seconds} s`)
}
const spoken = (seconds: number) => ({ settled: "speak", seconds })

t.test("a machine is spoken to once its beep is over", async (t) => {
  isAbout(
    t,
    momentOf([
      ["speech", 4],
      ["silence", 0.5],
      [1000, 0.5],
      ["silence", 5]
    ]),
    spoken(5.3)
  )
  isAbout(
    t,
    momentOf([
      ["speech", 4],
      [440, 2],
      ["silence", 5]
    ]),
    spoken(6.3),
    "however long it beeps"
  )
  isAbout(
    t,
    momentOf(
      [
        [1400, 0.1],
        ["silence", 5]
      ],
      true
    ),
    spoken(0.4),
    "when the beep gave it away, and is nearly over"
  )
})

t.test("a machine that never beeps is spoken to after three seconds of silence", async (t) => {
  isAbout(
    t,
    momentOf([
      ["speech", 4],
      ["silence", 5]
    ]),
    spoken(7)
  )
  isAbout(
    t,
    momentOf([
      ["speech", 4],
      ["silence", 2.5],
      ["speech", 1],
      ["silence", 5]
    ]),
    spoken(10.5),
    "not in a pause"
  )
})

t.test("a person who was taken for a machine is spoken to once they wait", async (t) => {
  isAbout(
    t,
    momentOf([
      ["silence", 1],
      ["speech", 0.5],
      ["silence", 2],
      ["speech", 0.5],
      ["silence", 4]
    ]),
    spoken(7)
  )
})

t.test("tones before an announcement do not count as the beep", async (t) => {
  isAbout(
    t,
    momentOf([
      [950, 0.33],
      [1400, 0.33],
      [1800, 0.33],
      ["speech", 3],
      ["silence", 0.6],
      ["speech", 2],
      ["silence", 5]
    ]),
    spoken(9.6)
  )
})

t.test("an answerer who speaks for a minute is given up", async (t) => {
  isAbout(t, momentOf([["speech", 62]]), { settled: "give_up", seconds: 60 })
})
