/**
 * Vobiz through its REST interface, which speaks Plivo's dialect. Calls are reported in callbacks, and their audio comes over websockets that Vobiz
 * opens, so the engine needs a public address.
 */
import { defineHostedAdapter } from "#adapters/shared/hostedAdapter.ts"
import { checkpointDialect, jsonMedia } from "#adapters/shared/JsonMedia.ts"
import { readDialect } from "#adapters/shared/PlivoDialectCallback.ts"
import { CALL_SECONDS, RING_SECONDS } from "#adapters/shared/PlivoDialectRequest.ts"
import { accountOf, fields } from "./VobizAccount.ts"
import { admits, proofOf } from "./signature.ts"
import { connect } from "./VobizTrunk.ts"

export default defineHostedAdapter({
  manifest: {
    provider: "vobiz",
    displayName: "Vobiz",
    docsUrl: "https://docs.vobiz.ai/call/make-call",
    // An account's limit is not documented. Calls beyond it are refused, not queued.
    callsPerSecond: 1,
    originatesInFlight: 4,
    tells: ["ringing", "marks", "answerer", "cost", "joined", "unnamed"],
    answers: ["document", "media"],
    signs: ["address", "nonce"],
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
  callbackHeaders: ["v3", "v2"].flatMap((version) => [
    `x-vobiz-signature-${version}`,
    `x-vobiz-signature-${version}-nonce`,
    `x-vobiz-signature-ma-${version}`
  ]),
  proofOf: (request, { auth_token }) => proofOf(request, auth_token),
  read: (callback, _, proof) => readDialect(callback, proof),
  admit: (upgrade, { auth_token }) => admits(upgrade, auth_token),
  media: jsonMedia(checkpointDialect)
})
