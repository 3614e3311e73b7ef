/** Telnyx Call Control v2: calls are placed over REST and followed through signed webhooks; Telnyx opens a websocket for the audio of each. */
import { defineHostedAdapter } from "#adapters/shared/hostedAdapter.ts"
import { jsonMedia, telnyxDialect } from "#adapters/shared/JsonMedia.ts"
import { enteredStep } from "#adapters/shared/setup.ts"
import { proofOf } from "./signature.ts"
import { accountOf, fields, prepare } from "./TelnyxAccount.ts"
import { readCallback } from "./TelnyxCallback.ts"
import { CALL_SECONDS, connect, RING_SECONDS } from "./TelnyxTrunk.ts"

export default defineHostedAdapter({
  manifest: {
    provider: "telnyx",
    displayName: "Telnyx",
    docsUrl: "https://developers.telnyx.com/docs/voice/programmable-voice",
    // Telnyx accepts 30 dials per second, averaged over 5 s and over the whole account.
    callsPerSecond: 25,
    originatesInFlight: 16,
    tells: ["keys", "marks", "answerer", "cost", "joined", "declined", "unnamed"],
    answers: ["event", "media"],
    signs: ["body", "time"],
    transfers: ["attended"],
    longestRingSeconds: RING_SECONDS.most,
    longestCallSeconds: CALL_SECONDS.most,
    accountField: "connection_id"
  },
  fields,
  account: accountOf,
  rateKey: ({ api_key }) => api_key,
  prepare,
  entered: ({ callbackUrl }) =>
    enteredStep("webhook_url", "Webhook address", "Enter it as the application's webhook URL", callbackUrl?.("event")),
  connect,
  callbackHeaders: ["telnyx-signature-ed25519", "telnyx-timestamp"],
  proofOf: (request, { webhook_public_key }) => proofOf(request, webhook_public_key),
  read: readCallback,
  media: jsonMedia(telnyxDialect)
})
