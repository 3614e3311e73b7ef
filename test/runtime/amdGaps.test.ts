/** Answering-machine detection on a line on which nothing arrives for a while. */
import t from "tap"
import { makeAmd } from "#runtime/voice/Amd.ts"
import { encode } from "#core/audio/Mulaw.ts"
import type { PcmFrame } from "#core/audio/PcmFrame.ts"
import { pcm } from "#test/support/pcm.ts"

const speech = pcm(encode(Int16Array.from({ length: 160 }, (_, at) => 9000 * Math.sin(at * at))))
const quiet = pcm(encode(new Int16Array(160)))
const frames = (seconds: number, frame: PcmFrame | undefined) => Array.from({ length: seconds * 50 }, () => frame)
/** Speech in syllables. */
const speaks = (seconds: number) => Array.from({ length: seconds * 50 }, (_, at) => (at % 10 === 9 ? quiet : speech))

/**
 * The verdict on two parts, which follow silence of which `before` seconds are sent. `stall` is how long this process stands still between the
 * parts.
 */
const judge = (first: ReadonlyArray<PcmFrame | undefined>, then: ReadonlyArray<PcmFrame | undefined>, stall = 0, before = 1) => {
  const amd = makeAmd()
  for (let at = 0; at < 50; at++) amd.push(at < before * 50 ? quiet : undefined, at * 20)
  for (const [index, frame] of [...first, ...then].entries()) {
    const now = 1000 + index * 20 + (index < first.length ? 0 : stall)
    const verdict = amd.push(frame, now)
    if (verdict !== undefined) return verdict
  }
  return "none"
}

t.test("a machine whose audio stops for a second is still a machine", async (t) => {
  t.equal(judge([...speaks(1.5), ...frames(1, undefined)], speaks(2)), "machine")
})

t.test("a machine is still a machine after this process has stood still for a second, and then hears a pause", async (t) => {
  t.equal(judge(speaks(1.5), [...frames(0.1, quiet), ...speaks(2)], 1000), "machine")
})

t.test("a person on a line that does not send silence is a person", async (t) => {
  for (const before of [0, 0.2]) t.equal(judge(speaks(0.6), frames(3, undefined), 0, before), "human", `${before} s of it sent`)
})

t.test("a machine on a line that has sent silence stays a machine, however long its audio stops", async (t) => {
  t.equal(judge([...speaks(1.5), ...frames(5, undefined)], speaks(2)), "machine")
})

t.test("a machine that pauses on a line that stalls in each pause is still a machine", async (t) => {
  const pauses = [...frames(0.3, quiet), ...frames(1.2, undefined), ...frames(0.3, quiet)]
  const said = [...speaks(0.8), ...pauses, ...speaks(0.8), ...pauses, ...speaks(1.5)]
  for (const before of [0.24, 1]) t.equal(judge(said, [], 0, before), "machine", `${before} s of silence sent before`)
})

t.test("a line that stalls while it sends its first silence is known to send it", async (t) => {
  const stalling = [...frames(0.2, quiet), ...frames(0.06, undefined), ...frames(0.2, quiet)]
  t.equal(judge([...stalling, ...speaks(1.5), ...frames(3, undefined)], speaks(2), 0, 0), "machine")
})

t.test("a machine whose audio stops in the middle of a word is still a machine, even if the line has sent no silence", async (t) => {
  for (const before of [0, 0.2]) {
    const greeting = [...speaks(1.5), speech, ...frames(4, undefined)]
    t.equal(judge(greeting, speaks(2), 0, before), "machine", `${before} s of silence sent before`)
  }
})

t.test("a person on a line that has sent silence, and stops, is a person in the end", async (t) => {
  t.equal(judge(speaks(0.6), frames(7, undefined)), "human")
})
