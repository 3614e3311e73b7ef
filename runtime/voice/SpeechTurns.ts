/** Decides who may ask next, for a service that takes only a limited number of requests at once: the most urgent of those waiting. */
import { Deferred, Effect } from "effect"
import type { SpeechWanted } from "#core/model/TextToSpeech.ts"
import * as SteadyTime from "#core/SteadyTime.ts"
import { mostUrgent } from "./SpeechQueue.ts"

interface Turn {
  /** May change while it waits. */
  readonly wants: Iterable<SpeechWanted>
  readonly come: Deferred.Deferred<void>
  hasCome: boolean
}

/** The turns of one service. */
interface Turns {
  running: number
  readonly waiting: Set<Turn>
}

const begin = (turns: Turns, turn: Turn): void => {
  turns.running++
  turn.hasCome = true
  turns.waiting.delete(turn)
  Deferred.doneUnsafe(turn.come, Effect.void)
}

export const makeSpeechTurns = () => {
  const services = new Map<string, Turns>()
  const turnsOf = (key: string): Turns => {
    const turns = services.get(key) ?? { running: 0, waiting: new Set<Turn>() }
    services.set(key, turns)
    return turns
  }
  const end = (key: string, turns: Turns, turn: Turn) =>
    Effect.map(SteadyTime.now, (now) => {
      turns.waiting.delete(turn)
      if (!turn.hasCome) return
      turns.running--
      const next = mostUrgent(turns.waiting, now)
      if (next !== undefined) begin(turns, next)
      else if (turns.running === 0) services.delete(key)
    })
  const sum = (of: (turns: Turns) => number) => () => [...services.values()].reduce((whole, turns) => whole + of(turns), 0)
  return {
    /** Runs the work when its turn has come. `key` identifies the service. */
    within: <A, E>(key: string, atOnce: number, wants: Turn["wants"], work: Effect.Effect<A, E>): Effect.Effect<A, E> =>
      Effect.suspend(() => {
        const turns = turnsOf(key)
        const turn: Turn = { wants, come: Deferred.makeUnsafe(), hasCome: false }
        if (turns.running < atOnce) begin(turns, turn)
        else turns.waiting.add(turn)
        return Effect.ensuring(Effect.andThen(Deferred.await(turn.come), work), end(key, turns, turn))
      }),
    running: sum(({ running }) => running),
    waiting: sum(({ waiting }) => waiting.size)
  }
}
