/** A stream as a carrier sends it, and a reply to a frame with as many bytes as the adapter sends. */
import { scoreOf } from "#test/emulators/ari/Sound.ts"
import type { MediaWords } from "#test/emulators/shared/MediaLeg.ts"
import { twilioWords } from "#test/emulators/twilio/twilioMedia.ts"
import { vonageWords } from "#test/emulators/vonage/vonageMedia.ts"

export type Dialect = "twilio" | "vonage"

const words: Readonly<Record<Dialect, () => MediaWords>> = {
  twilio: () => twilioWords("AC00000000000000000000000000000001", "CA00000000000000000000000000000001"),
  vonage: () => vonageWords
}

/** A frame from the middle of "Hello?". */
const [spoken = Buffer.alloc(0)] = scoreOf("hello").frames.slice(25)

const textOf = (message: object): string | Buffer => (Buffer.isBuffer(message) ? message : JSON.stringify(message))

/** The messages before the first frame, and a function for each further frame. */
export const streamOf = (dialect: Dialect) => {
  const { audio, connected, start } = words[dialect]()
  let chunk = 0
  return {
    hello: [connected?.(), start?.()].flatMap((message) => (message === undefined ? [] : [textOf(message)])),
    next: () => textOf(audio(spoken, ++chunk))
  }
}

export const answerOf = (dialect: Dialect): string | Buffer => {
  if (dialect === "vonage") return textOf(vonageWords.audio(spoken, 1))
  return JSON.stringify({ event: "media", streamSid: `MZ${"0".repeat(32)}`, media: { payload: spoken.toString("base64") } })
}
