/**
 * Plivo through its REST interface. Calls are reported in signed callbacks, and their audio comes over websockets that Plivo opens, so the engine needs a
 * public address. https://www.plivo.com/docs/voice/xml/stream
 */
import { defineHostedAdapter } from "#adapters/shared/hostedAdapter.ts"
import { checkpointDialect, jsonMedia } from "#adapters/shared/JsonMedia.ts"
import { readDialect } from "#adapters/shared/PlivoDialectCallback.ts"
import { CALL_SECONDS, RING_SECONDS } from "#adapters/shared/PlivoDialectRequest.ts"
import { accountOf, fields } from "./PlivoAccount.ts"
import { connect, CURRENCY, RETRIES } from "./PlivoTrunk.ts"
import { proofOf } from "./signature.ts"

export default defineHostedAdapter({
  manifest: {
    provider: "plivo",
    displayName: "Plivo",
    docsUrl: "https://www.plivo.com/docs/voice/api/call",
    // More are not refused but queued.
    callsPerSecond: 2,
    originatesInFlight: 8,
    tells: ["ringing", "queue", "keys", "marks", "answerer", "cost", "joined", "declined", "unnamed"],
    answers: ["document", "media"],
    signs: ["address", "query", "body", "socket"],
    transfers: ["attended"],
    longestRingSeconds: RING_SECONDS.most,
    longestCallSeconds: CALL_SECONDS.most,
    pricesRecords: true,
    accountField: "auth_id"
  },
  fields,
  account: accountOf,
  rateKey: ({ auth_id }) => auth_id,
  connect,
  callbackHeaders: ["x-plivo-signature-v3", "x-plivo-signature-v3-nonce", "x-plivo-signature-ma-v3"],
  // The signature covers the bytes, by which a repeat is known; its nonce adds nothing to that.
  proofOf: (request, { auth_token }) => proofOf(request, auth_token),
  read: (callback, _, proof) => readDialect(callback, proof, { currency: CURRENCY, retries: RETRIES }),
  media: jsonMedia(checkpointDialect)
})
