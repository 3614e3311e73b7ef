import type { RecognizerEvent } from "#core/model/SpeechToText.ts"

type Final = Extract<RecognizerEvent, { readonly _tag: "Final" }>

/** `span`: from when to when it was said, in milliseconds of written audio. */
export const finalOf = (
  text: string,
  [fromMillis, untilMillis]: readonly [number, number],
  isForced: boolean,
  confidence?: number
): Final => ({
  _tag: "Final",
  text,
  fromMillis,
  untilMillis,
  isForced,
  isAnswer: false,
  confidence
})
