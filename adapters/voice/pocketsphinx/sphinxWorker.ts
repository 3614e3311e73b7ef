/** A process that recognizes utterances by grammar, several at a time. It holds PocketSphinx, whose faults would otherwise end the engine. */
import { setPriority } from "node:os"
import { makeDecoders } from "./Decoders.ts"
import { type Decoding, makeDecoding } from "./Decoding.ts"
import type { Jsgf } from "./Grammar.ts"
import { type LearnedDecoder, openLearnedDecoder } from "./LearnedDecoder.ts"
import { makePhoneModel } from "./PhoneModel.ts"
import { makePronunciations } from "./Pronunciations.ts"
import type { Hypothesis } from "./Sphinx.ts"
import type { SphinxFiles } from "./SphinxFiles.ts"
import { loadSphinx } from "./SphinxLibrary.ts"

/** Messages about the utterance `id`. */
export type SphinxMessage =
  /** `isWhole`: all of its audio follows at once. */
  | { readonly _tag: "Begin"; readonly id: number; readonly grammar: Jsgf; readonly isWhole: boolean }
  /** 8 kHz mu-law. */
  | { readonly _tag: "Hear"; readonly id: number; readonly audio: Uint8Array }
  /** The utterance is complete, and a reply is expected. */
  | { readonly _tag: "Close"; readonly id: number }
  /** No reply is needed any more. */
  | { readonly _tag: "GiveUp"; readonly id: number }

export interface SphinxReply {
  /** Undefined if nothing of the grammar was heard. */
  readonly hypothesis: Hypothesis | undefined
  /** Words of the grammar that the dictionary lacks, and which are never recognized. */
  readonly unknown: ReadonlyArray<string>
}
export type NumberedReply = SphinxReply & { readonly id: number }

interface Utterance {
  readonly decoder: LearnedDecoder
  /** Undefined if the grammar cannot be used. */
  readonly decoding: Decoding | undefined
  readonly unknown: ReadonlyArray<string>
}

const tidyMillis = 10_000

const [given] = process.argv.slice(2)
// Cast: the process that starts this one passes them.
const files = JSON.parse(given ?? "") as SphinxFiles
const sphinx = loadSphinx(files)
const pronunciations = makePronunciations(files.dictionary)
const model = makePhoneModel(files.acousticModel)
const decoders = makeDecoders(
  () => openLearnedDecoder(sphinx, model, pronunciations),
  () => performance.now()
)
setInterval(decoders.tidy, tidyMillis)
const utterances = new Map<number, Utterance>()
/** Utterances that are complete go first, in the order in which they were completed. */
const closed = new Set<number>()
/** Utterances that are still being spoken and have work to do, the oldest first: it is likely to be completed first. */
const open = new Set<number>()

const begin = ({ grammar, id, isWhole }: Extract<SphinxMessage, { readonly _tag: "Begin" }>): void => {
  const decoder = decoders.take(grammar)
  const { name, unknown } = decoder.learn(grammar)
  const isBegun = name !== undefined && decoder.begin(name)
  utterances.set(id, { decoder, decoding: isBegun ? makeDecoding(decoder, isWhole) : undefined, unknown })
}

const end = (id: number, { decoder, decoding }: Utterance): Hypothesis | undefined => {
  utterances.delete(id)
  closed.delete(id)
  open.delete(id)
  const hypothesis = decoding?.end()
  decoders.giveBack(decoder)
  return hypothesis
}

/** Returns false if there was nothing to do. */
const work = (): boolean => {
  const [first] = closed
  const id = first ?? Math.min(...open)
  const utterance = utterances.get(id)
  if (utterance?.decoding?.step() ?? false) return true
  if (utterance === undefined || !closed.has(id)) return open.delete(id)
  const reply: NumberedReply = { id, hypothesis: end(id, utterance), unknown: utterance.unknown }
  process.send?.(reply)
  return true
}

let isAtWork = false
/** Lets messages arrive between two steps. */
const goOn = (): void => {
  if (isAtWork) return
  isAtWork = true
  setImmediate(() => {
    isAtWork = false
    if (work()) goOn()
  })
}

const take = (message: SphinxMessage): void => {
  const { id } = message
  if (message._tag === "Begin") return begin(message)
  const utterance = utterances.get(id)
  if (utterance === undefined) return
  if (message._tag === "GiveUp") return void end(id, utterance)
  if (message._tag === "Hear") utterance.decoding?.hear(message.audio)
  else utterance.decoding?.close()
  const waiting = message._tag === "Hear" ? open : closed
  waiting.add(id)
  goOn()
}

// The engine's main thread goes first, and its children inherit its priority.
try {
  setPriority(0)
} catch {
  // It is not permitted, so the engine had no higher priority that could be inherited.
}

process.on("disconnect", () => process.exit())
process.on("message", take)
