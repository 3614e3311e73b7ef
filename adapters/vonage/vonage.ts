/**
 * Vonage's Voice API: calls are placed over REST with the application's key, and followed through signed webhooks; Vonage opens a websocket for the
 * audio of each.
 */
import { setupOf } from "#adapters/shared/HostedCarrier.ts"
import { defineAdapter } from "#core/provider/Adapter.ts"
import { accountOf, fields, verify } from "./VonageAccount.ts"
import { prepare } from "./VonageApplication.ts"
import { readCallback } from "./VonageCallback.ts"
import { vonageMedia } from "./VonageMedia.ts"
import { CALL_SECONDS, connect, RING_SECONDS } from "./VonageTrunk.ts"

export default defineAdapter({
  manifest: {
    contract: 2,
    provider: "vonage",
    displayName: "Vonage",
    docsUrl: "https://developer.vonage.com/en/voice/voice-api/overview",
    // The fourth request for a call within a second is refused.
    callsPerSecond: 2.5,
    originatesInFlight: 8,
    tells: ["ringing", "keys", "marks", "answerer", "cost", "unnamed"],
    signs: ["body", "time", "nonce"],
    longestRingSeconds: RING_SECONDS.most,
    longestCallSeconds: CALL_SECONDS.most,
    needsCallerId: true,
    accountField: "api_key"
  },
  fields,
  setup: (config, host) => setupOf(accountOf(config), host),
  callbackHeaders: ["authorization"],
  connect,
  read: ({ api_key, signature_secret }, callback) => readCallback(callback, { apiKey: api_key, signatureSecret: signature_secret }),
  prepare,
  // The signature of the request for the socket is not documented for a request without a body: the address is all that proves who comes.
  media: { accept: vonageMedia() },
  rateKey: ({ api_key }) => api_key,
  verify
})
