/**
 * A recognizer that is told what is said: a speaker registers the text, and the recognizer returns it when the segment is closed and contained
 * sound. The audio passes through all stages as usual; only the errors of recognition are left out.
 */
import { Effect } from "effect"
import type { RecognizerEvent, RecognizerHints, RecognizerSession, SpeechToText } from "#core/model/SpeechToText.ts"

interface ScriptedRecognizer extends SpeechToText {
  /** Registers a text that the callee starts to say. */
  readonly says: (text: string) => void
  /** Forgets what has been said so far, so that it is not recognized. */
  readonly forget: () => void
  readonly hints: ReadonlyArray<RecognizerHints>
  readonly session: () => RecognizerSession | undefined
}

/** The root mean square of a frame of speech. */
const audible = 200
const frameMillis = 20

/** `answer` decides when a text is returned; at once by default. */
export const scriptedRecognizer = (answer: (tell: () => void) => void = (tell) => tell()): ScriptedRecognizer => {
  const hints: Array<RecognizerHints> = []
  const said: Array<string> = []
  let session: RecognizerSession | undefined

  const open = Effect.fnUntraced(function* (first: RecognizerHints, emit: (event: RecognizerEvent) => void) {
    let isOpen = true
    yield* Effect.addFinalizer(() =>
      Effect.sync(() => {
        isOpen = false
      })
    )
    let millis = 0
    let from: number | undefined
    hints.push(first)
    session = {
      write: (samples) => {
        const power = samples.reduce((sum, sample) => sum + sample * sample, 0) / Math.max(1, samples.length)
        if (Math.sqrt(power) > audible) from ??= millis
        millis += frameMillis
      },
      finalize: () => {
        const text = from === undefined ? "" : said.splice(0).join(" ")
        const fromMillis = from ?? millis
        const untilMillis = millis
        from = undefined
        const isAnswer = hints.at(-1)?.phrases.includes(text) ?? false
        answer(() => {
          if (isOpen) emit({ _tag: "Final", text, fromMillis, untilMillis, isForced: true, isAnswer, confidence: undefined })
        })
      },
      hint: (next) => void hints.push(next)
    }
    return session
  })

  return {
    provider: "scripted",
    model: "scripted",
    ownsTurns: false,
    open,
    says: (text) => void said.push(text),
    forget: () => void said.splice(0),
    hints,
    session: () => session
  }
}
