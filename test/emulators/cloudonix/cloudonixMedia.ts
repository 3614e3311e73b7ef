/** Cloudonix' messages on a media socket: those of Twilio, with other ids, and optionally without marks. */
import type { MediaWords } from "#test/emulators/shared/MediaLeg.ts"
import { twilioWords } from "#test/emulators/twilio/twilioMedia.ts"

interface CloudonixNames {
  readonly domain: string
  /** A SIP id. */
  readonly callId: string
  readonly token: string
  readonly from: string
  readonly to: string
}

export const cloudonixWords = ({ callId, domain, from, to, token: session }: CloudonixNames, hasMarks: boolean): MediaWords => {
  const { cleared, played, start, ...words } = twilioWords(domain, callId)
  const named = (message: object) => ({ ...message, start: { ...Reflect.get(message, "start"), session, from, to, context: {} } })
  const marks = hasMarks && cleared !== undefined && played !== undefined ? { cleared, played } : {}
  return { ...words, ...marks, start: () => named(start()) }
}
