/**
 * Vonage's Voice API: calls are placed over REST with the application's key, and followed through signed webhooks; Vonage opens a websocket for the
 * audio of each.
 */
import { defineHostedAdapter } from "#adapters/shared/hostedAdapter.ts"
import { linearMedia, vonageDialect } from "#adapters/shared/LinearMedia.ts"
import { proofOf } from "./signature.ts"
import { accountOf, fields, prepare, verify } from "./VonageAccount.ts"
import { readCallback } from "./VonageCallback.ts"
import { CALL_SECONDS, RING_SECONDS } from "./vonageCodes.ts"
import { connect } from "./VonageTrunk.ts"

export default defineHostedAdapter({
  manifest: {
    provider: "vonage",
    displayName: "Vonage",
    docsUrl: "https://developer.vonage.com/en/voice/voice-api/overview",
    // The fourth request for a call within a second is refused.
    callsPerSecond: 2.5,
    originatesInFlight: 8,
    tells: ["ringing", "keys", "marks", "answerer", "cost", "joined", "declined", "unnamed"],
    answers: ["event", "media"],
    signs: ["body", "time", "nonce"],
    transfers: ["attended"],
    longestRingSeconds: RING_SECONDS.most,
    longestCallSeconds: CALL_SECONDS.most,
    accountField: "api_key"
  },
  fields,
  account: accountOf,
  rateKey: ({ api_key }) => api_key,
  prepare,
  verify,
  connect,
  callbackHeaders: ["authorization"],
  proofOf: (request, { api_key, signature_secret }) => proofOf(request, { apiKey: api_key, signatureSecret: signature_secret }),
  read: readCallback,
  // The signature of the request for the socket is not documented for a request without a body.
  media: linearMedia(vonageDialect)
})
