/**
 * A service whose package the benchmark installs: a recognizer without cost. For anything it hears it reports the one sentence that the
 * callees say.
 */
import { Effect } from "effect"
import { decodeSample, silence } from "#core/audio/Mulaw.ts"
import { defineRecognizer } from "#core/model/RecognizerProvider.ts"

const provider = "instant"
export const sentence = "yes please"

/** The threshold above which a sample counts as speech. */
const loud = decodeSample(silence) + 1000
/** It looks at one sample out of this many. */
const stride = 16
const frameMillis = 20

export const instantRecognizer = defineRecognizer({
  manifest: { contract: 1, kind: "stt", provider, title: "Instant", description: "Says what was said without listening." },
  fields: {},
  recognizer: () => ({
    provider,
    model: "one",
    ownsTurns: false,
    open: (_hints, emit) =>
      Effect.sync(() => {
        let millis = 0
        let from: number | undefined
        return {
          write: (samples) => {
            millis += frameMillis
            for (let at = 0; from === undefined && at < samples.length; at += stride) if ((samples[at] ?? 0) > loud) from = millis
          },
          finalize: () => {
            const text = from === undefined ? "" : sentence
            const isAnswer = from !== undefined
            emit({ _tag: "Final", text, fromMillis: from ?? millis, untilMillis: millis, isForced: true, isAnswer, confidence: 1 })
            from = undefined
          },
          hint: () => {}
        }
      })
  })
})
