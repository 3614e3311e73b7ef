/** PocketSphinx with its language model, as it is without a grammar: what other recognizers of open speech are compared with. */
import { dirname, join } from "node:path"
import koffi from "koffi"
import { loadSphinx } from "#adapters/voice/pocketsphinx/SphinxLibrary.ts"
import { sampleRate } from "#core/audio/Mulaw.ts"
import { resample } from "#core/audio/Resampler.ts"
import { pocketsphinx } from "#test/support/pocketsphinx.ts"

const modelRate = 16_000

/** Returns what is heard in PCM16 at 8 kHz. It takes about as long as the audio. */
export const openDictation = (): ((samples: Int16Array) => string) => {
  const files = pocketsphinx()
  const { base, library } = loadSphinx(files)
  const configure = base.func("void *cmd_ln_parse_r(void *, void *, int32_t, const char **, int)")
  const definitions = library.func("void *ps_args()")
  const open = library.func("void *ps_init(void *)")
  const start = library.func("int ps_start_utt(void *)")
  const process = library.func("int ps_process_raw(void *, const int16_t *, size_t, int, int)")
  const end = library.func("int ps_end_utt(void *)")
  const hypothesis = library.func("str ps_get_hyp(void *, _Out_ int32_t *)")

  const languageModel = join(dirname(files.acousticModel), "en-us.lm.bin")
  const settings = ["-hmm", files.acousticModel, "-lm", languageModel, "-dict", files.dictionary, "-logfn", "/dev/null"]
  const decoder: unknown = open(configure(null, definitions(), settings.length, settings, 0))
  if (decoder === null) throw new Error("PocketSphinx does not open its language model")
  return (samples) => {
    const wide = resample(samples, sampleRate, modelRate)
    start(decoder)
    process(decoder, koffi.as(wide, "int16_t *"), wide.length, 0, 1)
    end(decoder)
    const text: string | null = hypothesis(decoder, [0])
    return text ?? ""
  }
}
