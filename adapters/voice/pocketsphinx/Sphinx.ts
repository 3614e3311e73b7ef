/** A decoder of PocketSphinx: one utterance at a time, piece by piece, by grammar. */
import { readFileSync } from "node:fs"
import { join } from "node:path"
import type { PhoneModel } from "./PhoneModel.ts"
import { cepstrumSize, type FrontEnd, joined, makeFrontEnd, type Sphinx } from "./SphinxLibrary.ts"

/** The limit on a quiet line. In noise, sounds are more alike, and scores improve by `scorePerDecibel` for each decibel less between voice and noise. */
const quiet = { score: -51, overNoise: 35 }
const scorePerDecibel = 0.65
const strictest = -38

/**
 * A grammar accepts any speech as one of its sentences, and only the score tells them apart: it compares the path with the best sounds of each frame,
 * whatever the grammar. In trials with the grammars of whole nodes, nearly all sentences that were recognized correctly were above this limit, and 19 of
 * 20 others were below it, or recognized as something that answers nothing. `overNoise`: how much louder the voice is than the noise, in decibels.
 */
export const leastScorePerFrame = (overNoise: number): number =>
  Math.min(strictest, quiet.score + scorePerDecibel * Math.max(0, quiet.overNoise - overNoise))

export interface Hypothesis {
  readonly text: string
  /** The score of the path for each frame of 10 ms. */
  readonly scorePerFrame: number
}

export interface Decoder {
  /** Adds a word in lower case. A word without pronunciations gets one that nobody will say, so that grammars may contain it. */
  readonly add: (word: string, pronunciations: ReadonlyArray<string>) => void
  /** Returns false if the grammar cannot be used. A grammar of the same name is replaced. */
  readonly learn: (name: string, jsgf: string) => boolean
  readonly forget: (name: string) => void
  /** Begins an utterance, which `end` ends. Returns false if there is no such grammar. */
  readonly begin: (name: string) => boolean
  /** The front end of the utterance. */
  readonly frontEnd: FrontEnd
  /** Takes the next frames, without the mean of the utterance. `place`: whether they are the first or the last ones of the utterance. */
  readonly search: (cepstra: Float32Array, place: { readonly isFirst: boolean; readonly isLast: boolean }) => void
  /** Undefined if nothing was recognized. */
  readonly end: () => Hypothesis | undefined
  /** To be called between utterances. The decoder cannot be used afterwards. */
  readonly close: () => void
}

/** The model's own settings override ours, and `-cmn` would subtract the mean only once the utterance is whole: `CepstralMean` does that here. */
const featuresOf = (acousticModel: string): ReadonlyArray<string> => {
  const own = readFileSync(join(acousticModel, "feat.params"), "utf8").trim().split(/\s+/)
  return ["-featparams", "/dev/null", ...own.map((value, at) => (own[at - 1] === "-cmn" ? "none" : value))]
}

const settings = (acousticModel: string): ReadonlyArray<string> => [
  ...featuresOf(acousticModel),
  "-hmm",
  acousticModel,
  "-logfn",
  "/dev/null",
  // With the default of 0.65, additional short words of a grammar are recognized.
  "-wip",
  "0.2",
  // How much the grammar's weights count: 6.5 suits dictation.
  "-lw",
  "3",
  // Scores are relative to the best sound of the frame. By default, only sounds of the grammar compete, and the larger the grammar the worse the score.
  "-compallsen",
  "yes",
  // Wider than the default, because rare words begin with poor scores.
  "-beam",
  "1e-64",
  "-pbeam",
  "1e-64",
  "-wbeam",
  "1e-48"
]

const unspeakable = "ZH OY ZH OY ZH OY ZH"
/** Each frame is judged together with this many neighbours on either side. */
const neighbours = 3

const lastOf = (cepstra: Float32Array): Float32Array => cepstra.subarray(cepstra.length - cepstrumSize)

/** Takes 5 MB and 15 ms. */
export const openDecoder = (sphinx: Sphinx, model: PhoneModel): Decoder => {
  const { base, library, rows } = sphinx
  const configure = base.func("void *cmd_ln_parse_r(void *, void *, int32_t, const char **, int)")
  const definitions = library.func("void *ps_args()")
  const open = library.func("void *ps_init(void *)")
  const setJsgf = library.func("int ps_set_jsgf_string(void *, str, str)")
  const unsetSearch = library.func("int ps_unset_search(void *, str)")
  const setSearch = library.func("int ps_set_search(void *, str)")
  const addWord = library.func("int ps_add_word(void *, str, str, int)")
  const frontEndOf = library.func("void *ps_get_fe(void *)")
  const start = library.func("int ps_start_utt(void *)")
  const process = library.func("int ps_process_cep(void *, void *, int, int, int)")
  const end = library.func("int ps_end_utt(void *)")
  const hypothesis = library.func("str ps_get_hyp(void *, _Out_ int32_t *)")
  const frames = library.func("int ps_get_n_frames(void *)")
  const free = library.func("int ps_free(void *)")

  // Models name settings that only their training uses.
  const isStrict = 0
  const decoder: unknown = model.use((folder) => {
    const given = settings(folder)
    return open(configure(null, definitions(), given.length, given, isStrict))
  })
  if (decoder === null) throw new Error("PocketSphinx does not open its model")
  const frontEnd = makeFrontEnd(sphinx, frontEndOf(decoder))

  return {
    frontEnd,
    // Grammars that were learned before lack no words, so they need no update.
    add: (word, [first = unspeakable, ...others]) => {
      addWord(decoder, word, first, 0)
      for (const [at, phones] of others.entries()) addWord(decoder, `${word}(${at + 2})`, phones, 0)
    },
    learn: (name, jsgf) => setJsgf(decoder, name, jsgf) === 0,
    forget: (name) => void unsetSearch(decoder, name),
    begin: (name) => {
      if (setSearch(decoder, name) !== 0 || start(decoder) !== 0) return false
      frontEnd.begin()
      return true
    },
    search: (cepstra, { isFirst, isLast }) => {
      // In a part of an utterance, PocketSphinx waits for the neighbours of the last frames.
      const missing = isLast && !isFirst ? Array.from({ length: neighbours }, () => lastOf(cepstra)) : []
      const taken = joined([cepstra, ...missing])
      sphinx.cepstra.set(taken)
      const isDry = 0
      process(decoder, rows, taken.length / cepstrumSize, isDry, isFirst && isLast ? 1 : 0)
    },
    end: () => {
      end(decoder)
      const score: [number] = [0]
      const text: string | null = hypothesis(decoder, score)
      const count: number = frames(decoder)
      return text === null || text === "" || count === 0 ? undefined : { text, scorePerFrame: score[0] / count }
    },
    close: () => void free(decoder)
  }
}
