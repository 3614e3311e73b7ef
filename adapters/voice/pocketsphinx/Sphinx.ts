/**
 * PocketSphinx through its C interface. Each call blocks, and a fault in it ends the process, so it runs in a process of its own.
 * https://github.com/cmusphinx/pocketsphinx/blob/v0.8/include/pocketsphinx.h
 */
import koffi from "koffi"
import type { SphinxFiles } from "./SphinxFiles.ts"

/** The rate that Debian's acoustic model was trained with. */
export const sphinxRate = 16_000

/** On a quiet line; in noise, in which all sounds are more alike, scores are better by this much for each decibel that it is nearer to the voice. */
const quiet = { score: -60, overNoise: 35 }
const scorePerDecibel = 0.65
const strictest = -44

/**
 * A grammar accepts any speech as one of its sentences. The score separates: it is that of the path against the best sounds of each frame, whatever the
 * grammar. In trials with the grammars of whole nodes, nearly all sentences that were recognized rightly were above it, and 19 of 20 others below, or
 * recognized as something that answers nothing. `overNoise`: how much louder the voice is, in decibels.
 */
export const leastScorePerFrame = (overNoise: number): number =>
  Math.min(strictest, quiet.score + scorePerDecibel * Math.max(0, quiet.overNoise - overNoise))

export interface Hypothesis {
  readonly text: string
  /** The score of the path by frame of 10 ms. */
  readonly scorePerFrame: number
}

interface Sphinx {
  /** Whether the dictionary has the word, which must be in lower case. */
  readonly knows: (word: string) => boolean
  /** Adds a word that nobody will say, so that grammars may hold it. */
  readonly add: (word: string) => void
  /** False when the grammar cannot be used. A grammar of the same name is replaced. */
  readonly learn: (name: string, jsgf: string) => boolean
  readonly forget: (name: string) => void
  /** Undefined when nothing was recognized. `samples`: one utterance at `sphinxRate`. */
  readonly recognize: (name: string, samples: Int16Array) => Hypothesis | undefined
}

const settings = ({ acousticModel, dictionary }: SphinxFiles): ReadonlyArray<string> => [
  "-hmm",
  acousticModel,
  "-dict",
  dictionary,
  "-logfn",
  "/dev/null",
  // The default of 0.65 makes it hear additional short words within a grammar.
  "-wip",
  "0.2",
  // How much the grammar's weights count: 6.5 suits dictation.
  "-lw",
  "3",
  // Scores are relative to the best sound of the frame. By default, only sounds of the grammar compete, and the larger the grammar the worse the score.
  "-compallsen",
  "yes",
  // Makes up for that: of each sound's components, half as many as usual.
  "-topn",
  "2",
  // Wider than usual: rare words begin poorly.
  "-beam",
  "1e-64",
  "-pbeam",
  "1e-64",
  "-wbeam",
  "1e-48"
]

const unspeakable = "ZH OY ZH OY ZH OY ZH"

export const loadSphinx = (files: SphinxFiles): Sphinx => {
  const [base, library] = files.libraries.map((path) => koffi.load(path, { global: true })).slice(-2)
  if (base === undefined || library === undefined) throw new Error("PocketSphinx is not there")
  const configure = base.func("void *cmd_ln_init(void *, void *, int, ...)")
  const definitions = library.func("void *ps_args()")
  const open = library.func("void *ps_init(void *)")
  const lookUp = library.func("char *ps_lookup_word(void *, str)")
  const setJsgf = library.func("int ps_set_jsgf_string(void *, str, str)")
  const unsetSearch = library.func("int ps_unset_search(void *, str)")
  const setSearch = library.func("int ps_set_search(void *, str)")
  const addWord = library.func("int ps_add_word(void *, str, str, int)")
  const startStream = library.func("int ps_start_stream(void *)")
  const start = library.func("int ps_start_utt(void *)")
  const process = library.func("int ps_process_raw(void *, int16_t *, size_t, int, int)")
  const end = library.func("int ps_end_utt(void *)")
  const hypothesis = library.func("str ps_get_hyp(void *, _Out_ int32_t *)")
  const frames = library.func("int ps_get_n_frames(void *)")

  const isStrict = 1
  const decoder: unknown = open(
    configure(null, definitions(), isStrict, ...settings(files).flatMap((text) => ["str", text]), "void *", null)
  )
  if (decoder === null) throw new Error("PocketSphinx does not open its model")

  return {
    knows: (word) => lookUp(decoder, word) !== null,
    learn: (name, jsgf) => setJsgf(decoder, name, jsgf) === 0,
    add: (word) => void addWord(decoder, word, unspeakable, 1),
    forget: (name) => void unsetSearch(decoder, name),
    recognize: (name, samples) => {
      if (setSearch(decoder, name) !== 0) return undefined
      // Forgets the noise of the call before.
      if (startStream(decoder) !== 0 || start(decoder) !== 0) return undefined
      // The whole utterance at once, so that its cepstral mean is taken over all of it.
      const [isDry, isWhole] = [0, 1]
      process(decoder, samples, samples.length, isDry, isWhole)
      end(decoder)
      const score: [number] = [0]
      const text: string | null = hypothesis(decoder, score)
      const count: number = frames(decoder)
      return text === null || text === "" || count === 0 ? undefined : { text, scorePerFrame: score[0] / count }
    }
  }
}
