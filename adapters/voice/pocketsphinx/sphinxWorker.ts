/** A process that recognizes one utterance after the other, by grammar. It holds PocketSphinx, whose faults would otherwise end the engine. */
import { setPriority } from "node:os"
import { decode, sampleRate } from "#core/audio/Mulaw.ts"
import { resample } from "#core/audio/Resampler.ts"
import { type Jsgf, wordsOf } from "./Grammar.ts"
import { type Hypothesis, loadSphinx, sphinxRate } from "./Sphinx.ts"
import type { SphinxFiles } from "./SphinxFiles.ts"

export interface SphinxRequest {
  readonly grammar: Jsgf
  /** One utterance of 8 kHz mu-law. */
  readonly audio: Uint8Array
}
export interface SphinxReply {
  /** Undefined when nothing of the grammar was heard. */
  readonly hypothesis: Hypothesis | undefined
  /** Words of the grammar that the dictionary lacks, and which are never recognized. */
  readonly unknown: ReadonlyArray<string>
}

/** A grammar of a hundred sentences takes about 0.1 MB. */
const keptGrammars = 200

const [files] = process.argv.slice(2)
// Cast: the process that starts this one passes them.
const sphinx = loadSphinx(JSON.parse(files ?? "") as SphinxFiles)

interface Learned {
  readonly name: string
  readonly isUsable: boolean
  readonly unknown: ReadonlyArray<string>
}
/** The least recently used first. */
const learned = new Map<Jsgf, Learned>()
const added = new Set<string>()
let count = 0

/** A single word that the dictionary lacks would make the whole grammar useless. */
const learnNew = (grammar: Jsgf): Learned => {
  const unknown = wordsOf(grammar).filter((word) => added.has(word) || !sphinx.knows(word))
  for (const word of unknown) {
    if (added.has(word)) continue
    sphinx.add(word)
    added.add(word)
  }
  const name = `grammar-${++count}`
  return { name, isUsable: sphinx.learn(name, grammar), unknown }
}

const learn = (grammar: Jsgf): Learned => {
  const now = learned.get(grammar) ?? learnNew(grammar)
  learned.delete(grammar)
  learned.set(grammar, now)
  const [oldest] = learned
  if (learned.size > keptGrammars && oldest !== undefined) {
    learned.delete(oldest[0])
    sphinx.forget(oldest[1].name)
  }
  return now
}

// The engine's main thread goes first, and its children inherit its priority.
try {
  setPriority(0)
} catch {
  // Not permitted: then it has none to inherit either.
}

process.on("disconnect", () => process.exit())
process.on("message", ({ audio, grammar }: SphinxRequest) => {
  const { isUsable, name, unknown } = learn(grammar)
  const hypothesis = isUsable ? sphinx.recognize(name, resample(decode(audio), sampleRate, sphinxRate)) : undefined
  const reply: SphinxReply = { hypothesis, unknown }
  process.send?.(reply)
})
