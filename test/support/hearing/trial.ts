/** What the recognizer and the built-in model make of answers, and of unrelated sentences, that synthetic voices speak over a phone line. */
import { Effect, type Scope } from "effect"
import { grammarOf } from "#adapters/voice/embedded/grammar.ts"
import { apology } from "#adapters/voice/embedded/lines.ts"
import { decode, encode, frameSize, sampleRate } from "#core/audio/Mulaw.ts"
import { resample } from "#core/audio/Resampler.ts"
import { notUnderstood, type RecognizerEvent, type SpeechToText } from "#core/model/SpeechToText.ts"
import { type FliteVoice, loadFlite, synthesize } from "#runtime/voice/FliteWasm.ts"
import { agent, callee, outcome, values } from "#test/adapters/embeddedScene.ts"
import { after, codesOf, hiss, levelOf, nothing, over, type Sound } from "#test/support/sound.ts"
import { until } from "#test/support/until.ts"
import type { Answer } from "./answers.ts"
import { type AskingNodeName, askingNodes } from "./nodes.ts"

export type Line = "clean" | "20 dB noise"
export const speakers = ["slt", "rms", "awb"] as const satisfies ReadonlyArray<FliteVoice>

interface Understood {
  /** The tool that is called, or else what the agent says. */
  readonly reply: string
  readonly value: unknown
}

/** What the model does with a text in a node. */
export const understoodIn = (at: AskingNodeName, text: string): Understood => {
  const { node, question } = askingNodes[at]
  const talk = [agent(question), callee(text)]
  const [variable] = node.variables.filter(({ type }) => type !== "boolean")
  return { reply: outcome(node, ...talk), value: variable === undefined ? undefined : values([variable], ...talk)?.[variable.name] }
}

/** Whether it leads to the right place, with the value that was said. */
export const isRight = ({ tool, value }: Answer, understood: Understood): boolean => {
  if (tool === undefined) return understood.reply.startsWith(`I heard ${[...String(value)].join(", ")}.`)
  return understood.reply.startsWith(tool) && (value === undefined || understood.value === value)
}
/** Whether it was taken for an answer: it leads somewhere, or the agent asks for confirmation. */
export const isTaken = (at: AskingNodeName, { reply }: Understood): boolean =>
  !reply.startsWith(apology) && reply !== askingNodes[at].question

const flite = loadFlite()
/** The level of the noise relative to the voice. */
const noiseShare = 0.1

const heardOver = (line: Line, voice: FliteVoice, text: string): Int16Array => {
  const { rate, samples } = synthesize(flite, voice, text)
  // As the phone transmits it.
  const speech = decode(encode(resample(samples, rate, sampleRate)))
  const said: Sound = after(nothing(600), speech, nothing(400))
  const noise = line === "clean" ? nothing(0) : hiss((said.length * 1000) / sampleRate, levelOf(speech) * noiseShare)
  return decode(codesOf(over(said, noise)))
}

export interface Ear {
  /** What is understood of a text that is spoken in a node. */
  readonly hear: (line: Line, voice: FliteVoice, at: AskingNodeName, text: string) => Effect.Effect<Understood>
}

const hearOnce = (recognizer: SpeechToText, audio: Int16Array, at: AskingNodeName): Effect.Effect<string, never, Scope.Scope> =>
  Effect.gen(function* () {
    const events: Array<RecognizerEvent> = []
    const hints = { language: "en-US", keyterms: [], phrases: [], grammar: grammarOf(askingNodes[at].node) }
    const session = yield* Effect.orDie(recognizer.open(hints, (event) => void events.push(event)))
    for (let from = 0; from + frameSize <= audio.length; from += frameSize) session.write(audio.subarray(from, from + frameSize))
    session.finalize()
    const text = yield* Effect.promise(() =>
      until("answer", () => events.flatMap((event) => (event._tag === "Final" ? [event.text] : []))[0])
    )
    return text === "" ? notUnderstood : text
  })

export const makeEar = (recognizer: SpeechToText): Ear => ({
  hear: (line, voice, at, text) =>
    Effect.scoped(hearOnce(recognizer, heardOver(line, voice, text), at)).pipe(Effect.map((heard) => understoodIn(at, heard)))
})
