/** A process that transcribes utterances with one model, one after the other. It holds sherpa-onnx, whose faults would otherwise end the engine. */
import { setPriority } from "node:os"
import sherpa from "sherpa-onnx-node"
import { decode, sampleRate } from "#core/audio/Mulaw.ts"
import type { RecognizerHints } from "#core/model/SpeechToText.ts"
import { type Expected, expectedOf } from "./Expected.ts"
import { ledIn, withoutLeadIn } from "./LeadIn.ts"
import { type Nearest, nearest } from "./Snapping.ts"
import type { TranscriptionModel } from "./TranscriptionModel.ts"
import { spoken } from "./Writing.ts"

export interface TranscriptionRequest extends Pick<RecognizerHints, "grammar" | "phrases"> {
  /** One utterance of 8 kHz mu-law. */
  readonly audio: Uint8Array
  /** It has so little voice that it may be a word or two. */
  readonly isShort: boolean
}
/** Requests follow the first message, which is the `TranscriptionModel`. */
export type NumberedRequest = TranscriptionRequest & { readonly id: number }

export interface Transcription {
  /** As the model writes it. */
  readonly text: string
  /** How many pieces the text was made of: the model's words and parts of words. */
  readonly tokens: number
  /** What sounds most like it of what is expected. */
  readonly nearest: Nearest | undefined
}
export type TranscriptionMessage =
  /** The model is loaded. */
  | { readonly _tag: "Ready" }
  /** `residentBytes`: the memory of this process afterwards. */
  | (Transcription & { readonly _tag: "Transcribed"; readonly id: number; readonly residentBytes: number })

const send = (message: TranscriptionMessage): void => void process.send?.(message)

/** Loads the model, and returns what transcribes with it. */
const load = ({ leadIn, modelConfig }: TranscriptionModel): ((request: TranscriptionRequest) => Written) => {
  const recognizer = new sherpa.OfflineRecognizer({ modelConfig: { ...modelConfig, numThreads: 1 } })
  const lead = leadIn === undefined ? undefined : { samples: decode(Buffer.from(leadIn.audio, "base64")), text: leadIn.text }
  const decoded = (samples: Int16Array) => {
    const stream = recognizer.createStream()
    stream.acceptWaveform({ sampleRate, samples: Float32Array.from(samples, (sample) => sample / 0x8000) })
    recognizer.decode(stream)
    return recognizer.getResult(stream)
  }
  const transcribed = (samples: Int16Array): Written => {
    const { text, tokens } = decoded(samples)
    return { text: text.trim(), tokens: tokens.length }
  }
  return ({ audio, isShort }) => {
    const said = decode(audio)
    if (!isShort || lead === undefined) return transcribed(said)
    const { text, tokens } = decoded(ledIn(lead.samples, said))
    const rest = withoutLeadIn(text, lead)
    return rest === undefined ? transcribed(said) : { text: rest, tokens: tokensIn(rest, tokens) }
  }
}

/** What the model has written, and how many pieces that has. */
type Written = Pick<Transcription, "text" | "tokens">

/** How many of the pieces, counted from the end, the text consists of. */
const tokensIn = (text: string, tokens: ReadonlyArray<string>): number => {
  let left = text.length
  let count = 0
  while (left > 0 && count < tokens.length) left -= tokens.at(-++count)?.length ?? 0
  return count
}

/** The most recently used last. Reading a grammar takes a few milliseconds, and the calls of an agent share its nodes. */
const expectations = new Map<string, Expected | undefined>()
const mostExpectations = 200
const expectedIn = ({ grammar, phrases }: TranscriptionRequest): Expected | undefined => {
  const key = grammar ?? JSON.stringify(phrases)
  const expected = expectations.has(key) ? expectations.get(key) : expectedOf(phrases, grammar)
  expectations.delete(key)
  expectations.set(key, expected)
  const [oldest] = expectations.keys()
  if (expectations.size > mostExpectations && oldest !== undefined) expectations.delete(oldest)
  return expected
}

const withNearest = (request: TranscriptionRequest, { text, tokens }: Written): Transcription => {
  const expected = expectedIn(request)
  return { text, tokens, nearest: expected === undefined ? undefined : nearest(expected, spoken(text)) }
}

// The engine's main thread goes first, and its children inherit its priority.
try {
  setPriority(0)
} catch {
  // It is not permitted, so the engine had no higher priority that could be inherited.
}

process.on("disconnect", () => process.exit())
process.once("message", (model: TranscriptionModel) => {
  const written = load(model)
  process.on("message", ({ id, ...request }: NumberedRequest) => {
    const transcription = withNearest(request, written(request))
    send({ _tag: "Transcribed", id, ...transcription, residentBytes: process.memoryUsage.rss() })
  })
  send({ _tag: "Ready" })
})
