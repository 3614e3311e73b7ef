/** Cloudonix' messages on a media socket: those of Twilio, with other ids. */
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

export const cloudonixWords = ({ callId, domain, from, to, token: session }: CloudonixNames): MediaWords => {
  const { start, ...words } = twilioWords(domain, callId)
  const named = (message: object) => ({ ...message, start: { ...Reflect.get(message, "start"), session, from, to, context: {} } })
  return { ...words, start: () => named(start()) }
}
