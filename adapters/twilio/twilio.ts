/**
 * Twilio through its REST interface. Calls are reported in callbacks, and their audio comes over websockets that Twilio opens, so the engine needs a
 * public address. https://www.twilio.com/docs/voice/media-streams/websocket-messages
 */
import { defineHostedAdapter } from "#adapters/shared/hostedAdapter.ts"
import { jsonMedia, streamSidDialect } from "#adapters/shared/JsonMedia.ts"
import { proofOf } from "./signature.ts"
import { accountOf, fields } from "./TwilioAccount.ts"
import { readCallback } from "./TwilioCallback.ts"
import { CALL_SECONDS, connect, RING_SECONDS } from "./TwilioTrunk.ts"

/** https://www.twilio.com/docs/api/errors/21609 */
const refusesUrl = ({ hostname }: URL): string | undefined => (hostname.includes("_") ? "its host name has an underscore" : undefined)

export default defineHostedAdapter({
  manifest: {
    provider: "twilio",
    displayName: "Twilio",
    docsUrl: "https://www.twilio.com/docs/voice/api/call-resource",
    // More are not refused but queued for up to a day, and would ring at any hour.
    callsPerSecond: 1,
    originatesInFlight: 4,
    tells: ["ringing", "queue", "undialed", "keys", "marks", "answerer", "cost", "joined", "declined", "unnamed"],
    answers: ["event", "media"],
    signs: ["address", "query", "body", "socket"],
    transfers: ["attended"],
    longestRingSeconds: RING_SECONDS.most,
    longestCallSeconds: CALL_SECONDS.most,
    pricesRecords: true,
    accountField: "account_sid"
  },
  fields,
  account: accountOf,
  rateKey: ({ account_sid }) => account_sid,
  refusesUrl,
  connect,
  callbackHeaders: ["x-twilio-signature"],
  proofOf: (request, { auth_token }) => proofOf(request, auth_token),
  read: readCallback,
  media: jsonMedia(streamSidDialect)
})
