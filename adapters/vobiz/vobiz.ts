/**
 * Vobiz through its REST interface, which speaks Plivo's dialect. Calls are reported in callbacks, and their audio comes over websockets that Vobiz
 * opens, so the engine needs a public address.
 */
import { setupOf, verifyAccount } from "#adapters/shared/HostedCarrier.ts"
import { checkpointDialect, jsonMedia } from "#adapters/shared/JsonMedia.ts"
import { CALL_SECONDS, RING_SECONDS } from "#adapters/shared/PlivoDialectRequest.ts"
import { defineAdapter } from "#core/provider/Adapter.ts"
import { accountOf, fields } from "./VobizAccount.ts"
import { admits, readCallback } from "./VobizCallback.ts"
import { connect } from "./VobizTrunk.ts"

export default defineAdapter({
  manifest: {
    contract: 2,
    provider: "vobiz",
    displayName: "Vobiz",
    docsUrl: "https://docs.vobiz.ai/call/make-call",
    // What an account may do is not documented. Calls beyond it are refused, not queued.
    callsPerSecond: 1,
    originatesInFlight: 4,
    tells: ["ringing", "marks", "answerer", "cost", "unnamed"],
    signs: ["address", "nonce"],
    longestRingSeconds: RING_SECONDS.most,
    longestCallSeconds: CALL_SECONDS.most,
    needsCallerId: true,
    pricesRecords: true,
    accountField: "auth_id"
  },
  fields,
  callbackHeaders: ["v3", "v2"].flatMap((version) => [
    `x-vobiz-signature-${version}`,
    `x-vobiz-signature-${version}-nonce`,
    `x-vobiz-signature-ma-${version}`
  ]),
  connect,
  setup: (config, host) => setupOf(accountOf(config), host),
  read: ({ auth_token }, callback) => readCallback(auth_token, callback),
  media: { admit: ({ auth_token }, upgrade) => admits(auth_token, upgrade), accept: jsonMedia(checkpointDialect) },
  rateKey: ({ auth_id }) => auth_id,
  verify: (config, context) => verifyAccount(accountOf(config), context)
})
