/**
 * Whether the callee interrupts the agent: speech over the agent is an interruption, a word of assent, or no speech at all. With the policy
 * `provisional`, the agent pauses at once, and continues where it stopped unless it turns out that it was interrupted. Pure: times come in on
 * the events.
 *
 *     Silent --agent begins--> Speaking --voice--> Held --words--> Silent, interrupted
 *                                 ^--no words, or assent-----'
 */

export type BargeInPolicy = "provisional" | "vad" | "min_words"

export interface BargeInRules {
  readonly policy: BargeInPolicy
  /** Applies to `min_words`. */
  readonly minWords: number
  /** If false, nothing interrupts the agent at this point. */
  readonly allowInterrupt: boolean
}

interface BargeInSituation extends BargeInRules {
  /** The agent has almost finished, so that assent is an answer to it. */
  readonly isEnding: boolean
}

export type BargeInEvent =
  | { readonly _tag: "AgentStarted"; readonly at: number }
  /** The callee has heard everything that the agent said. */
  | { readonly _tag: "AgentFinished"; readonly at: number }
  | { readonly _tag: "VoiceStarted"; readonly at: number }
  | { readonly _tag: "VoicePaused"; readonly at: number }
  /** What has been understood since the voice started. `isLast` means that the recognizer has finished with it. */
  | { readonly _tag: "Understood"; readonly at: number; readonly text: string; readonly isLast: boolean }
  /** The deadline has passed. */
  | { readonly _tag: "Passed"; readonly at: number }

export type BargeInCommand =
  | "Pause"
  /** Continue with the first sample that was not heard. What was said in the meantime is not a turn. */
  | "Resume"
  /** What was said is not a turn, and the agent never stopped. */
  | "Disregard"
  | "Interrupt"

type BargeInState =
  | { readonly _tag: "Silent" }
  | { readonly _tag: "Speaking" }
  /** `isAssent`: what has been understood so far. */
  | { readonly _tag: "Held"; readonly since: number; readonly isVoiced: boolean; readonly isAssent: boolean }

interface BargeInStep {
  readonly state: BargeInState
  readonly commands: ReadonlyArray<BargeInCommand>
}

/** An agent that was not interrupted is heard again within 1.5 s. The difference is one tick, and the delay on the way to the callee. */
const longestHoldMillis = 1400

const assent = new Set(
  `uh-huh uhhuh uh huh mm-hmm mmhmm mhm mhmm mm hm hmm mmm ah oh okay okey ok kay yeah yea yah yep yup right sure alright all i see got it go on fine good
  great`.split(/\s+/)
)
const wordsOf = (text: string): ReadonlyArray<string> => text.toLowerCase().match(/[\p{L}\p{N}'-]+/gu) ?? []
/** "Yeeeah" and "mmmmm" are words of assent, and "yeah-yeah" two. */
const isAssenting = (word: string): boolean => {
  const shorter = ["$1", "$1$1"].map((run) => word.replaceAll(/(.)\1{2,}/gu, run))
  return [word, ...shorter].some((one) => assent.has(one) || one.split("-").every((part) => assent.has(part)))
}

/**
 * Somebody who says more than this wants to speak, whatever it is. Words may be repeated: "yeah" five times in one breath is no more than once, and
 * "uh huh" has two.
 */
const mostAssentWords = { different: 6, all: 12 }
const isAssent = (words: ReadonlyArray<string>): boolean =>
  words.length <= mostAssentWords.all && new Set(words).size <= mostAssentWords.different && words.every(isAssenting)

const silent: BargeInState = { _tag: "Silent" }
const speaking: BargeInState = { _tag: "Speaking" }
const only = (state: BargeInState, ...commands: ReadonlyArray<BargeInCommand>): BargeInStep => ({ state, commands })
export const initialBargeIn: BargeInState = silent

/** When `Passed` is due; undefined if nothing is awaited. */
export const holdUntil = (state: BargeInState): number | undefined => (state._tag === "Held" ? state.since + longestHoldMillis : undefined)

export const nextBargeIn = (state: BargeInState, event: BargeInEvent, rules: BargeInSituation): BargeInStep => {
  switch (event._tag) {
    case "AgentStarted":
      return only(state._tag === "Silent" ? speaking : state)
    case "AgentFinished":
      return only(silent)
    case "VoiceStarted":
      return onVoice(state, event.at, rules)
    case "VoicePaused":
      return only(state._tag === "Held" ? { ...state, isVoiced: false } : state)
    case "Understood":
      return onText(state, event.text, event.isLast, rules)
    case "Passed":
      return onPassed(state, event.at)
  }
}

const onVoice = (state: BargeInState, at: number, { allowInterrupt, policy }: BargeInRules): BargeInStep => {
  if (state._tag === "Held") return only({ ...state, isVoiced: true })
  if (state._tag === "Silent" || !allowInterrupt || policy === "min_words") return only(state)
  return policy === "vad" ? only(silent, "Interrupt") : only({ _tag: "Held", since: at, isVoiced: true, isAssent: false }, "Pause")
}

const onText = (state: BargeInState, text: string, isLast: boolean, rules: BargeInSituation): BargeInStep => {
  if (state._tag === "Silent") return only(state)
  const words = wordsOf(text)
  const least = rules.policy === "min_words" ? rules.minWords : 1
  if (rules.allowInterrupt && words.length >= least && (rules.isEnding || !isAssent(words))) return only(silent, "Interrupt")
  const heard = state._tag === "Held" ? { ...state, isAssent: words.length === 0 ? state.isAssent : isAssent(words) } : state
  if (!isLast) return only(heard)
  if (heard._tag === "Speaking") return only(heard, "Disregard")
  return heard.isVoiced ? only(heard) : only(speaking, "Resume")
}

const onPassed = (state: BargeInState, at: number): BargeInStep => {
  if (state._tag !== "Held" || at < state.since + longestHoldMillis) return only(state)
  // Nobody coughs for this long: it is speech that has not been understood yet, unless it is a long assent.
  return state.isVoiced && !state.isAssent ? only(silent, "Interrupt") : only(speaking, "Resume")
}
