/** The services of a conversation, each with its typical faults. What happens depends only on a seed and on the time within the call. */
import { Effect, Layer, Stream } from "effect"
import type { ToolAnswer } from "#core/agent/conversation/ConversationState.ts"
import { frameSize } from "#core/audio/Mulaw.ts"
import { type LanguageModel, ModelError, type ModelPart, type ModelRequest } from "#core/model/LanguageModel.ts"
import type { RecognizerEvent, SpeechToText } from "#core/model/SpeechToText.ts"
import { Tts, TtsError } from "#runtime/voice/Tts.ts"
import { scriptedRecognizer } from "./scriptedRecognizer.ts"
import { call, finished, text } from "./talk.ts"

/** Returns numbers from 0 to 1. */
type Chance = () => number
/** How often each service fails. */
export interface Trouble {
  readonly model: number
  readonly recognizer: number
  readonly speech: number
  readonly tool: number
}

const wait = (chance: Chance, least: number, most: number) => Effect.sleep(least + (most - least) * chance())
const pick = <A>(chance: Chance, list: readonly [A, ...ReadonlyArray<A>]): A => list[Math.floor(chance() * list.length)] ?? list[0]

const broken = (isRetryable = true) => new ModelError({ reason: "broken", isRetryable, message: "status 503" })

/** The end of a sentence that is not the last of the answer. */
const unfinished = "and there is more to it."
/** Lines after which the callee expects more. */
export const announcements = { filler: "One moment, please.", transition: "Let me see about that.", tool: "I am looking it up." }
export const isAnnouncement = (said: string): boolean => said.endsWith(unfinished) || Object.values(announcements).includes(said)

type Parts = Stream.Stream<ModelPart, ModelError>
const after = (delay: Effect.Effect<void>, parts: Parts): Parts => Stream.unwrap(Effect.as(delay, parts))
const all = (...parts: ReadonlyArray<ModelPart>): Parts => Stream.fromIterable(parts)

/** Makes each answer unique, so that no two can be confused. */
const makeAnswers = (chance: Chance) => {
  let answers = 0
  const sentence = ({ node, purpose }: ModelRequest) => `${purpose} ${++answers} of ${node.id} has something to ask.`
  return (request: ModelRequest): ReadonlyArray<ModelPart> => {
    const { messages, node, purpose, tools } = request
    if (purpose === "extract") return [call("save_variables", { wish: "a boat" })]
    const isAnswered = messages.at(-1)?._tag !== "User"
    const kind = chance()
    const edge = node.edges[Math.floor(chance() * node.edges.length)]
    if (purpose === "turn" && !isAnswered && kind < 0.3 && edge !== undefined) return [call(edge.tool)]
    if (purpose === "turn" && kind < 0.5 && tools.some(({ name }) => name === "look_up")) return [call("look_up")]
    if (kind < 0.7) return [text(`Answer ${++answers} of ${node.id} goes on ${unfinished} `), text(sentence(request))]
    return [text(sentence(request))]
  }
}

/** What a model may return instead of the good answer. */
const failures = (chance: Chance, good: ReadonlyArray<ModelPart>): readonly [Parts, ...ReadonlyArray<Parts>] => {
  const [first = text("Yes.")] = good.map((part) => (part._tag === "Text" ? text(part.text.replace(unfinished, "that is all.")) : part))
  const soon = wait(chance, 0, 4000)
  return [
    Stream.never,
    after(soon, Stream.fail(broken())),
    after(soon, Stream.fail(broken(false))),
    after(soon, Stream.die(new Error("a fault"))),
    after(wait(chance, 1000, 5900), all(...good, finished)),
    after(soon, all(finished)),
    after(soon, all(text(" \n"), finished)),
    after(soon, all(call("no_such_tool"), finished)),
    after(soon, all(...good, call("look_up"), call("look_up"), finished)),
    after(soon, all(first)),
    Stream.concat(all(first), after(soon, Stream.fail(broken()))),
    Stream.concat(all(first), Stream.never)
  ]
}

export const faultyModel = (chance: Chance, trouble: number): LanguageModel => {
  const answers = makeAnswers(chance)
  return {
    provider: "faulty",
    model: "faulty",
    answer: (request) => {
      const good = answers(request)
      if (chance() >= trouble) return after(wait(chance, 0, 400), all(...good, finished))
      return pick(chance, failures(chance, good))
    }
  }
}

const recognizerFaults = ["unopened", "opens_late", "never_opens", "dies_hearing", "dies_asked", "never_answers", "throws", "slow"] as const

/** Each session has its own fault, or none. */
export const faultyRecognizer = (chance: Chance, trouble: number) => {
  const inner = scriptedRecognizer()
  const open: SpeechToText["open"] = (hints, emit) =>
    Effect.gen(function* () {
      const fault = chance() < trouble ? pick(chance, recognizerFaults) : undefined
      if (fault === "unopened") return yield* broken()
      if (fault === "never_opens") return yield* Effect.never
      if (fault === "opens_late") yield* wait(chance, 500, 9000)
      const fork = yield* Effect.context<never>()
      const later = (event: RecognizerEvent) =>
        void Effect.runForkWith(fork)(
          Effect.andThen(
            wait(chance, 200, 2000),
            Effect.sync(() => emit(event))
          )
        )
      const session = yield* inner.open(hints, fault === "slow" ? later : emit)
      let frames = 0
      const last = 50 + Math.floor(chance() * 500)
      const die = () => emit({ _tag: "Failed", error: broken() })
      return {
        hint: session.hint,
        write: (samples: Int16Array) => {
          frames++
          if (fault === "throws" && frames > last) throw new Error("a fault")
          if (fault === "dies_hearing" && frames === last) die()
          session.write(samples)
        },
        finalize: () => {
          if (fault === "never_answers") return
          if (fault === "dies_asked") return die()
          session.finalize()
        }
      }
    })
  return { ...inner, open }
}

/** Loud frames that encode which text they belong to. */
const framesOf = (words: number, id: number) => {
  const speech = new Uint8Array(words * 5 * frameSize).fill(0x10)
  for (let at = 0; at < speech.length; at += frameSize)
    for (let digit = 0; digit < 4; digit++) speech[at + digit] = 0x10 + ((id >> (digit * 4)) & 15)
  return speech
}

/** Speech whose sound identifies its text. */
export const faultySpeech = (chance: Chance, trouble: number) => {
  const texts: Array<string> = []
  const made = (text: string) =>
    Effect.sync(() => {
      const id = texts.push(text) - 1
      return framesOf(Math.max(1, text.split(/\s+/).filter((word) => word !== "").length), id)
    })
  const speak = (text: string): Effect.Effect<Uint8Array, TtsError> =>
    Effect.suspend(() => {
      if (chance() >= trouble) return made(text)
      const reason = pick(chance, ["Busy", "Crashed", "TimedOut", "Unspeakable"] as const)
      // The agent's own lines are made in advance, because calls share them.
      if (chance() < 0.5)
        return text.startsWith("Sorry") || isAnnouncement(text) ? made(text) : Effect.andThen(wait(chance, 50, 300), made(text))
      return Effect.andThen(wait(chance, 0, 50), Effect.fail(new TtsError({ reason })))
    })
  const sentenceIn = (frame: Uint8Array) => {
    let id = 0
    for (let digit = 0; digit < 4; digit++) id |= ((frame[digit] ?? 0) - 0x10) << (digit * 4)
    return { id, text: texts[id] }
  }
  const service = { engine: "faulty", voice: "none", firstSoundMillis: 0, speak, warm: () => Effect.void, isCrowdedBy: () => false }
  return { layer: Layer.succeed(Tts, service), sentenceIn }
}

export const faultyTool = (chance: Chance, trouble: number): Effect.Effect<ToolAnswer> =>
  Effect.suspend(() => {
    const good: ToolAnswer = { _tag: "Response", status: 200, body: '{"found":true}' }
    if (chance() >= trouble) return Effect.as(wait(chance, 0, 500), good)
    return pick<Effect.Effect<ToolAnswer>>(chance, [
      Effect.never,
      Effect.as(wait(chance, 1000, 8000), good),
      Effect.succeed({ _tag: "Failed", reason: "no" }),
      Effect.succeed({ _tag: "Response", status: 500, body: "<html>" }),
      Effect.die(new Error("a fault"))
    ])
  })
