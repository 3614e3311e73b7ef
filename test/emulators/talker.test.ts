/** The callee who holds a conversation, tick by tick. */
import t from "tap"
import { frameBytes } from "./ari/Sound.ts"
import { makeTalker, type Move, type Utterance } from "./shared/Talker.ts"

const loud = Buffer.alloc(frameBytes, 0x10)
const quiet = Buffer.alloc(frameBytes, 0xff)
const utterance = (text: string, ...parts: ReadonlyArray<readonly [frames: number, of: Buffer]>): Utterance => ({
  text,
  frames: parts.flatMap(([frames, of]) => Array.from({ length: frames }, () => of))
})
const yes = utterance("yes", [10, loud])
const nothing = { press: (_digits: string) => {}, hangUp: () => {} }

const talkerOf = (moves: ReadonlyArray<Move>, hands = nothing) => {
  const talker = makeTalker(moves, hands)
  /** The agent is loud or silent for this long; returns for how long the callee was loud. */
  const during = (millis: number, agent: Buffer | undefined) =>
    Array.from({ length: millis / 20 }, () => talker.next(agent)).filter((frame) => frame.equals(loud)).length * 20
  return { talker, during }
}

t.test("given a callee who answers, when the agent has asked, then it waits for the end of the question", async (t) => {
  const { during, talker } = talkerOf([{ cue: { afterAgent: 500 }, says: yes }])
  t.equal(during(1000, undefined), 0, "nobody has asked yet")
  t.equal(during(600, loud), 0)
  t.equal(during(200, undefined), 0, "a pause between words")
  t.equal(during(400, loud), 0)
  t.equal(during(500, quiet), 0)
  t.equal(during(300, quiet), 200)
  t.equal(during(400, undefined), 0)
  during(200, loud)
  t.strictSame(talker.agent, [
    { from: 1000, until: 2200 },
    { from: 3400, until: 3600 }
  ])
  t.strictSame(talker.turns, [{ text: "yes", from: 2700, until: 2900, agentFrom: 3400, agentUntil: undefined, agentInPauses: 0 }])
  t.ok(talker.isDone())
})

t.test("given a callee who interrupts, when the agent falls silent, then the time is recorded", async (t) => {
  const { during, talker } = talkerOf([{ cue: { intoAgent: 400 }, says: yes }])
  t.equal(during(400, loud), 0)
  t.equal(during(80, loud), 80)
  t.equal(during(400, undefined), 120)
  t.match(talker.turns, [{ from: 400, until: 600, agentFrom: undefined, agentUntil: 480 }])
})

t.test("given a callee who pauses, when the agent begins to speak in the pause, then that is counted", async (t) => {
  const number = utterance("one two", [10, loud], [40, quiet], [10, loud], [5, quiet])
  const { during, talker } = talkerOf([{ cue: { after: 100 }, says: number }])
  during(100, undefined)
  during(700, undefined)
  during(100, loud)
  during(1000, undefined)
  t.match(talker.turns, [{ from: 100, until: 1300, agentInPauses: 1, agentFrom: undefined }])
})

t.test("given a callee with other moves, when their cues come, then it presses keys and hangs up", async (t) => {
  const done: Array<string> = []
  const hands = { press: (digits: string) => void done.push(digits), hangUp: () => void done.push("hangs up") }
  const { during, talker } = talkerOf(
    [
      { cue: { afterAgent: 300 }, presses: "12#" },
      { cue: { after: 200 }, hangsUp: true }
    ],
    hands
  )
  during(200, loud)
  during(320, undefined)
  t.strictSame(done, ["12#"])
  during(200, undefined)
  t.strictSame(done, ["12#", "hangs up"])
  t.ok(talker.isDone())
})
