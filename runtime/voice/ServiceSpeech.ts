/**
 * The speech of services that do not cache it themselves: made once for all calls that ask for the same at the same time, delivered part by
 * part, and cached where permitted. Nothing is shared between two organizations, or between two settings of one, because the key of a voice
 * contains both.
 */
import { Deferred, Effect, Exit, type Fiber, type Scope, Stream } from "effect"
import { createHash } from "node:crypto"
import { frameSize, sampleRate } from "#core/audio/Mulaw.ts"
import type { ChosenVoice } from "#core/model/ChosenVoice.ts"
import { ModelError } from "#core/model/LanguageModel.ts"
import type { SpeechWanted } from "#core/model/TextToSpeech.ts"
import * as SteadyTime from "#core/SteadyTime.ts"
import { WordMarks } from "#core/voice/WordMarks.ts"
import { countPool } from "#runtime/metrics/SpeechMetrics.ts"
import { makePhoneFrames, wholeOf } from "./PhoneFrames.ts"
import { makeSpeechCache, type SpeechCache } from "./SpeechCache.ts"
import { makeSpeechTurns } from "./SpeechTurns.ts"
import type { TakePart } from "./Tts.ts"

// Several hundred sentences.
const cacheBytes = 16 * 1024 * 1024
const maxWaiting = 1024
/** Five minutes: a service that never stops speaking must not exhaust memory. */
const maxSpeechBytes = 2_400_000

export interface ServiceSpeechOptions {
  /** For the whole text. */
  readonly timeoutMillis?: number
  /** How long a callee who is hearing a sentence waits for the rest of it before the agent finds other words. */
  readonly stallMillis?: number
}
const defaults: Required<ServiceSpeechOptions> = { timeoutMillis: 15_000, stallMillis: 1500 }
/** If the process was stalled, whatever has arrived meanwhile is handled first. */
const graceMillis = 50
const bytesPerMillis = sampleRate / 1000
/** With shorter parts, the carrier would have to report each one. */
const leastPartBytes = 10 * frameSize

interface Making {
  readonly wants: Set<SpeechWanted>
  readonly parts: Array<Uint8Array>
  readonly words: WordMarks
  readonly listeners: Set<TakePart>
  readonly outcome: Deferred.Deferred<Uint8Array, ModelError>
  fiber: Fiber.Fiber<void> | undefined
}

interface State {
  readonly cache: SpeechCache
  readonly making: Map<string, Making>
  readonly turns: ReturnType<typeof makeSpeechTurns>
  readonly scope: Scope.Scope
  readonly options: Required<ServiceSpeechOptions>
}

const failed = (reason: ModelError["reason"], message: string) => new ModelError({ reason, isRetryable: true, message })
const stopping = new ModelError({ reason: "unreachable", isRetryable: false, message: "the engine is stopping" })

/** A hash, because the settings contain secrets, which need not be in the cache. */
const keyOf = ({ key }: ChosenVoice, text: string): string => createHash("sha256").update(key).update("\0").update(text).digest("base64")

/** Fails once everything delivered so far would have been heard and nothing more arrives. */
const stalled = Effect.fnUntraced(function* (
  begun: Deferred.Deferred<SteadyTime.SteadyMillis>,
  bytes: () => number,
  stallMillis: number
): Effect.fn.Return<never, ModelError> {
  const begunAt = yield* Deferred.await(begun)
  let isOver = false
  for (;;) {
    const left = begunAt + bytes() / bytesPerMillis + stallMillis - (yield* SteadyTime.now)
    if (isOver && left <= 0) return yield* failed("timeout", "the rest of it did not come in time")
    isOver = left <= 0
    yield* Effect.sleep(Math.max(left, graceMillis))
  }
})

/** Asks the service, and passes on the parts as they arrive. */
const asked = (
  { speech }: ChosenVoice,
  text: string,
  wanted: SpeechWanted,
  { listeners, parts, words }: Making,
  options: State["options"]
) =>
  Effect.suspend(() => {
    const frames = makePhoneFrames(speech.format)
    let waiting: Array<Uint8Array> = []
    let bytes = 0
    const begun = Deferred.makeUnsafe<SteadyTime.SteadyMillis>()
    const tell = (least: number) => {
      if (waiting.reduce((sum, { length }) => sum + length, 0) < least) return
      const part = wholeOf(waiting)
      waiting = []
      parts.push(part)
      for (const listener of listeners) listener(part, words.marks)
    }
    const take = (given: Uint8Array) => {
      if (given.length > 0) waiting.push(given)
      bytes += given.length
    }
    const given = Stream.runForEach(speech.speak(text, wanted), (some) =>
      Effect.suspend(() => {
        if (!(some instanceof Uint8Array)) {
          words.push(some)
          return Effect.void
        }
        take(frames.push(some))
        tell(leastPartBytes)
        if (bytes > maxSpeechBytes) return Effect.fail(failed("broken", "it speaks without end"))
        return parts.length === 0 ? Effect.void : Effect.flatMap(SteadyTime.now, (now) => Deferred.succeed(begun, now))
      })
    )
    return Effect.map(
      Effect.raceFirst(
        given,
        stalled(begun, () => bytes, options.stallMillis)
      ),
      () => {
        take(frames.end())
        tell(1)
        return wholeOf(parts)
      }
    )
  }).pipe(
    Effect.timeoutOrElse({ duration: options.timeoutMillis, orElse: () => Effect.fail(failed("timeout", "it took too long to make")) })
  )

const make = (state: State, voice: ChosenVoice, key: string, text: string, wanted: SpeechWanted, own: Making) =>
  state.turns.within(voice.key, voice.speech.atOnce, own.wants, asked(voice, text, wanted, own, state.options)).pipe(
    Effect.onExit((exit) =>
      Effect.suspend(() => {
        if (state.making.get(key) === own) state.making.delete(key)
        if (Exit.isSuccess(exit) && voice.speech.isCacheable && exit.value.length > 0) state.cache.set(key, exit.value, own.words.marks)
        return Deferred.done(own.outcome, Exit.hasInterrupts(exit) ? Exit.fail(stopping) : exit)
      })
    ),
    Effect.exit,
    Effect.asVoid
  )

/** The request shared by all callers that want the same speech; a new one if there is none. */
const begun = Effect.fnUntraced(function* (state: State, voice: ChosenVoice, key: string, text: string, wanted: SpeechWanted) {
  const same = voice.speech.isCacheable ? state.making.get(key) : undefined
  if (same !== undefined) return same
  if (state.turns.waiting() >= maxWaiting) return yield* failed("rate_limited", "too much speech is waiting to be made")
  const own: Making = {
    wants: new Set([wanted]),
    parts: [],
    words: new WordMarks(text),
    listeners: new Set(),
    outcome: Deferred.makeUnsafe(),
    fiber: undefined
  }
  if (voice.speech.isCacheable) state.making.set(key, own)
  // Not within the caller, who may hang up while others wait for the same speech.
  own.fiber = yield* Effect.forkIn(make(state, voice, key, text, wanted, own), state.scope)
  return own
})

/** One caller's part in a request. */
const joined = (state: State, key: string, making: Making, wanted: SpeechWanted, part: TakePart) => {
  making.wants.add(wanted)
  for (const made of making.parts) part(made, making.words.marks)
  making.listeners.add(part)
  return Effect.sync(() => {
    making.wants.delete(wanted)
    making.listeners.delete(part)
    if (making.wants.size > 0) return
    // A request that nobody is waiting for any more is cancelled, so that it is not paid for, and nobody may join it.
    if (state.making.get(key) === making) state.making.delete(key)
    making.fiber?.interruptUnsafe()
  })
}

const speak = Effect.fnUntraced(function* (state: State, voice: ChosenVoice, text: string, given: SpeechWanted, part: TakePart) {
  const key = keyOf(voice, text)
  const kept = state.cache.get(key)
  if (kept !== undefined) {
    part(kept.speech, kept.words)
    return kept.speech
  }
  const wanted = { ...given }
  return yield* Effect.uninterruptibleMask((restore) =>
    Effect.flatMap(begun(state, voice, key, text, wanted), (making) => {
      const leave = joined(state, key, making, wanted, part)
      return Effect.ensuring(restore(Deferred.await(making.outcome)), leave)
    })
  )
})

export const makeServiceSpeech = Effect.fnUntraced(function* (options: ServiceSpeechOptions) {
  const turns = makeSpeechTurns()
  const state: State = {
    cache: makeSpeechCache(cacheBytes),
    making: new Map(),
    turns,
    scope: yield* Effect.scope,
    options: { ...defaults, ...options }
  }
  yield* countPool("voices", { running: turns.running, waiting: turns.waiting })
  return {
    /** `part` gets each part as it arrives; speech that was cached is one part. Empty if nothing in the text can be said. */
    speak: (voice: ChosenVoice, text: string, wanted: SpeechWanted, part: TakePart) => speak(state, voice, text, wanted, part)
  }
})
