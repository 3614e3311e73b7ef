/** What the callees of `voice-latency` say, and the figures that are computed from their notes. */
import t from "tap"
import { seeded } from "#test/support/seeded.ts"
import type { Figure } from "./Figure.ts"
import type { HeardTurn } from "./latencyCallees.ts"
import { modelFigures, turnFigures } from "./latencyFigures.ts"
import { digitsScript, numberedScript, type TurnKind, talkScript, turnKinds } from "./latencyScript.ts"

t.test("given a seed, then the script of a callee is always the same, and has every kind of turn", async (t) => {
  t.strictSame(talkScript(seeded(1)), talkScript(seeded(1)))
  t.not(JSON.stringify(talkScript(seeded(1))), JSON.stringify(talkScript(seeded(2))))
  for (let seed = 1; seed <= 50; seed++) {
    const script = talkScript(seeded(seed))
    const kinds = new Set(script.map(({ kind }) => kind))
    const missing = turnKinds.filter((kind) => kind !== "digits" && !kinds.has(kind))
    t.strictSame(missing, [])
    t.ok(script.every(({ pauseMillis }) => pauseMillis >= 300 && pauseMillis <= 900 && pauseMillis % 20 === 0))
    const over = script.flatMap(({ kind }, at) => (["barge_in", "backchannel", "cough"].includes(kind) ? [script[at - 1]?.kind] : []))
    const areOver = over.every((kind) => kind === "complete")
    t.ok(areOver, "there is a long line to interrupt")
  }
  t.ok(digitsScript(seeded(1), 3).every(({ text }) => text.split("|").length === 3 && text.split(/[ |]+/).length === 10))
  t.equal(new Set([...numberedScript(1, 4), ...numberedScript(5, 4)].map(({ text }) => text)).size, 8)
})

const turn = (kind: TurnKind, heard: Partial<HeardTurn>, more: Partial<HeardTurn["turn"]> = {}): HeardTurn => ({
  turn: { kind, text: "yes", pauseMillis: 400, cueMillis: 1000, ...more },
  from: 10_000,
  until: 11_000,
  agentFrom: 11_240,
  agentUntil: undefined,
  agentInPauses: 0,
  agentEnd: 16_240,
  clock: { until: 500, agentFrom: 740 },
  ...heard
})
const figureOf = (figures: ReadonlyArray<Figure>, name: string): number | undefined =>
  figures.find((figure) => figure.name === `voice-latency, ${name}`)?.value

t.test("given notes of callees, then they become figures", async (t) => {
  const over = { cueMillis: 2500 }
  const figures = turnFigures([
    [
      turn("complete", {}),
      turn("neutral", { agentFrom: 11_700 }),
      turn("incomplete", { agentFrom: undefined }),
      turn("paused", { agentInPauses: 1 }, { text: "one | two" }),
      turn("digits", {}, { text: "one | two | three" }),
      turn("barge_in", { agentUntil: 10_080 }),
      turn("backchannel", { agentEnd: 10_000 + 2500 + 400 }, over),
      turn("cough", { agentEnd: 10_000 + 2500 + 1500 }, over),
      turn("backchannel", { agentEnd: 10_200 }, over),
      turn("cough", { agentEnd: 11_300 + 5000 }, over)
    ]
  ])
  t.equal(figureOf(figures, "turns without an answer"), 1)
  t.equal(figureOf(figures, "complete answer to audio p50"), 240)
  t.equal(figureOf(figures, "neutral answer to audio p95"), 700)
  t.equal(figureOf(figures, "pauses inside turns and digit groups"), 3)
  t.equal(Math.round(figureOf(figures, "pauses into which the agent starts") ?? 0), 33)
  t.equal(figureOf(figures, "barge-in to silence p50"), 80)
  t.equal(figureOf(figures, "of these, those that ended a line"), 50, "the line stopped for good, and another one took its place")
})

t.test("given a model that is slower or faster than a turn is certain, then only the rest is the engine's share", async (t) => {
  const ownWith = (clauseAt: number) =>
    figureOf(modelFigures({ talks: [[turn("complete", {})]], clauseAt: () => clauseAt }), "the engine's own share of it p50")
  t.equal(ownWith(720), 20)
  t.equal(ownWith(600), 40, "200 ms after the voice the turn is certain")
})

t.test("given callees who wait longer for the first answer, then a figure says by how much", async (t) => {
  const answered = (millis: number) => turn("complete", { clock: { until: 500, agentFrom: 500 + millis } })
  const talks = [600, 700, 900].map((first) => [answered(first), answered(220), answered(230)])
  const figures = modelFigures({ talks, clauseAt: () => 0 })
  t.equal(figureOf(figures, "the same in first turns, beyond that in third turns, p50"), 470)
})
