/** What a recognizer reads of what callees say in parts: nothing twice, unless a short pause has cut a sentence in two. */
import t from "tap"
import { makeSentenceMemory } from "#adapters/shared/SentenceMemory.ts"
import type { Heard } from "#adapters/shared/Utterance.ts"
import { frameMillis, frameSize, silence } from "#core/audio/Mulaw.ts"

/** Somebody speaks from one of these frames to another, and each frame has its number; what has been said since something was last taken begins at `fresh`. */
const heard = (from: number, until: number, fresh = from): Heard => ({
  span: { from, until },
  audio: Uint8Array.from({ length: (until - from) * frameSize }, (_, at) => 1 + from + Math.floor(at / frameSize)),
  fromMillis: from * frameMillis,
  untilMillis: until * frameMillis,
  newMillis: fresh * frameMillis,
  overNoise: 20,
  voicedMillis: (until - from) * frameMillis
})
/** The numbers of the frames; silence is 0. */
const framesOf = ({ audio }: Heard) =>
  Array.from({ length: audio.length / frameSize }, (_, at) => (audio[at * frameSize] === silence ? 0 : audio[at * frameSize]))

/** A memory in which something has been read. */
const after = (first: Heard, mayGoOn = true) => {
  const memory = makeSentenceMemory()
  memory.understood(first, memory.about(first), memory.present(), mayGoOn)
  return memory
}

t.test(
  "given a pause within a word, then the whole is read, with silence for what was not kept, and replaces the first part",
  async (t) => {
    const memory = after(heard(0, 3))
    const about = memory.about(heard(5, 7))
    t.strictSame(framesOf(about.heard), [1, 2, 3, 0, 0, 6, 7])
    t.match(about.heard, { fromMillis: 0, untilMillis: 140, voicedMillis: 100 })
    t.ok(memory.understood(heard(5, 7), about, memory.present(), true))
    t.strictSame(framesOf(memory.about(heard(8, 9)).heard), [1, 2, 3, 0, 0, 6, 7, 0, 9], "and so is what follows the next one")
  }
)

t.test("given lead-ins that overlap what was read, then no frame is there twice", async (t) => {
  t.strictSame(framesOf(after(heard(0, 5)).about(heard(3, 8, 6)).heard), [1, 2, 3, 4, 5, 6, 7, 8])
})

t.test("given another sentence, then it is read by itself, and replaces nothing", async (t) => {
  const check = (name: string, memory: ReturnType<typeof after>, next: Heard) => {
    const about = memory.about(next)
    t.equal(about.heard.fromMillis, next.fromMillis, name)
    t.notOk(memory.understood(next, about, memory.present(), true), name)
  }
  check("after more than half a second", after(heard(0, 3)), heard(29, 31))
  check("if both are longer than ten seconds", after(heard(0, 495)), heard(498, 505))
  check("if the first was cut off because it was too long", after(heard(0, 3), false), heard(4, 6))
  const settled = after(heard(0, 3))
  settled.settle()
  check("if the first has been answered", settled, heard(4, 6))
})

t.test(
  "given a first part that is answered while the whole is read, then the text of the whole replaces nothing, and nothing replaces it",
  async (t) => {
    const memory = after(heard(0, 3))
    const present = memory.present()
    const about = memory.about(heard(4, 6))
    memory.settle()
    t.notOk(memory.understood(heard(4, 6), about, present, true))
    t.strictSame(framesOf(memory.about(heard(7, 8)).heard), [8])
  }
)

t.test("given what was taken before the part in it was understood, then only the rest is read if a pause lies between", async (t) => {
  t.strictSame(framesOf(after(heard(0, 3)).about(heard(0, 40, 35)).heard).slice(0, 2), [4, 5])
})
