/** The callees of `voice-latency`: they follow their script, and note when they and the agent spoke, as they hear it. */
import { isLoud, toMulaw } from "#test/emulators/ari/Sound.ts"
import { makeTalker, type Move, type Talker } from "#test/emulators/shared/Talker.ts"
import { seeded } from "#test/support/seeded.ts"
import { makeMouth, type SpokenUtterance } from "#test/support/utterances.ts"
import { isOverAgent, type ScriptedTurn } from "./latencyScript.ts"

const frameBytes = 160
const sampleRate = 8000
/** The callee hangs up once the agent has answered the last turn. */
const lastWordsMillis = 1500

/** What a callee noted of one turn, in milliseconds since the answer, except for `clock`. */
export interface HeardTurn {
  readonly turn: ScriptedTurn
  readonly from: number
  readonly until: number
  readonly agentFrom: number | undefined
  readonly agentUntil: number | undefined
  readonly agentInPauses: number
  /** When the agent was last heard before the callee's next turn. */
  readonly agentEnd: number | undefined
  /** On the clock of `performance.now`: the end of the turn, and the beginning of the answer. */
  readonly clock: { until: number | undefined; agentFrom: number | undefined }
}

export interface Caller {
  readonly talker: Talker
  readonly heard: () => ReadonlyArray<HeardTurn>
}

/** A burst of noise that fades away. */
const cough = (): ReadonlyArray<Buffer> => {
  const random = seeded(7)
  const samples = Array.from({ length: 0.24 * sampleRate }, (_, at) => {
    const loudness = 9000 * Math.exp(-at / (0.07 * sampleRate))
    return toMulaw(loudness * (2 * random() - 1))
  })
  return Array.from({ length: samples.length / frameBytes }, (_, at) => Buffer.from(samples.slice(at * frameBytes, (at + 1) * frameBytes)))
}

const quiet = Buffer.alloc(frameBytes, toMulaw(0))

/** Begins with its first sound, and pauses only for the given time: the voice itself adds silence around each part. */
const trimmed = (utterance: SpokenUtterance, pauseMillis: number): SpokenUtterance => {
  const pause = Array.from({ length: pauseMillis / 20 }, () => quiet)
  const frames = utterance.parts.flatMap((part, at) => {
    const sounding = part.frames.slice(Math.max(0, part.frames.findIndex(isLoud)), part.frames.findLastIndex(isLoud) + 1)
    return at === 0 ? sounding : [...pause, ...sounding]
  })
  return { ...utterance, frames }
}

export const makeVoices = () => {
  const speak = makeMouth()
  const burst = cough()
  return ({ kind, pauseMillis, text }: ScriptedTurn): SpokenUtterance =>
    kind === "cough" ? { text, parts: [], frames: burst } : trimmed(speak(text, { voice: "rms" }), pauseMillis)
}

export const makeCaller = (
  script: ReadonlyArray<ScriptedTurn>,
  says: (turn: ScriptedTurn) => SpokenUtterance,
  hangUp: () => void
): Caller => {
  const moves: ReadonlyArray<Move> = script.map((turn) => ({
    cue: isOverAgent(turn) ? { intoAgent: turn.cueMillis } : { afterAgent: turn.cueMillis },
    says: says(turn)
  }))
  const inner = makeTalker([...moves, { cue: { afterAgent: lastWordsMillis }, hangsUp: true }], { press: () => {}, hangUp })
  const clocks: Array<HeardTurn["clock"]> = []
  const talker: Talker = {
    ...inner,
    next: (frame) => {
      const spoken = inner.next(frame)
      const turn = inner.turns.at(-1)
      if (turn === undefined) return spoken
      const clock = (clocks[inner.turns.length - 1] ??= { until: undefined, agentFrom: undefined })
      if (turn.until !== undefined) clock.until ??= performance.now()
      if (turn.agentFrom !== undefined) clock.agentFrom ??= performance.now()
      return spoken
    }
  }
  const heard = () =>
    inner.turns.flatMap((turn, at): ReadonlyArray<HeardTurn> => {
      const scripted = script[at]
      if (scripted === undefined || turn.until === undefined) return []
      const next = inner.turns[at + 1]?.from ?? Number.POSITIVE_INFINITY
      return [
        {
          turn: scripted,
          from: turn.from,
          until: turn.until,
          agentFrom: turn.agentFrom,
          agentUntil: turn.agentUntil,
          agentInPauses: turn.agentInPauses,
          agentEnd: inner.agent.findLast(({ from, until }) => from < next && until > turn.from)?.until,
          clock: clocks[at] ?? { until: undefined, agentFrom: undefined }
        }
      ]
    })
  return { talker, heard }
}
