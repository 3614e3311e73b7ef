/**
 * Plivo through its REST interface. Calls are reported in signed callbacks, and their audio comes over websockets that Plivo opens, so the engine needs a
 * public address. https://www.plivo.com/docs/voice/xml/stream
 */
import { Effect } from "effect"
import { verifyAccount } from "#adapters/shared/HostedCarrier.ts"
import { checkpointDialect, jsonMedia } from "#adapters/shared/JsonMedia.ts"
import { readDialect } from "#adapters/shared/PlivoDialectCallback.ts"
import { CALL_SECONDS, RING_SECONDS } from "#adapters/shared/PlivoDialectRequest.ts"
import { publicAddressStep } from "#adapters/shared/setup.ts"
import { defineAdapter } from "#core/provider/Adapter.ts"
import * as Credential from "#core/provider/Credential.ts"
import { proofOf } from "./signature.ts"
import { accountOf, CURRENCY, openTrunk } from "./PlivoTrunk.ts"

export default defineAdapter({
  manifest: {
    contract: 2,
    provider: "plivo",
    displayName: "Plivo",
    docsUrl: "https://www.plivo.com/docs/voice/api/call",
    // More are not refused but queued.
    callsPerSecond: 2,
    originatesInFlight: 8,
    tells: ["ringing", "queue", "keys", "marks", "answerer", "cost", "unnamed"],
    signs: ["address", "query", "body", "socket"],
    longestRingSeconds: RING_SECONDS.most,
    longestCallSeconds: CALL_SECONDS.most,
    needsCallerId: true,
    pricesRecords: true,
    accountField: "auth_id"
  },
  fields: {
    auth_id: {
      ...Credential.identifier({ label: "Auth ID", description: "From the console's overview", placeholder: "MAXXXXXXXXXXXXXXXXXX" }),
      sensitive: true,
      pattern: "^(MA|SA)[0-9A-Za-z]{18}$"
    },
    auth_token: Credential.token({ label: "Auth Token", description: "Authenticates requests, and signs Plivo's callbacks" }),
    application_id: Credential.optionalText({
      label: "Application ID",
      description: "Application for incoming calls; not needed for outgoing ones",
      pattern: "^[0-9]{0,20}$"
    }),
    from_numbers: Credential.optionalList({ label: "Phone Numbers", description: "Caller ids to show, in E.164", placeholder: "+15550100" })
  },
  callbackHeaders: ["x-plivo-signature-v3", "x-plivo-signature-v3-nonce", "x-plivo-signature-ma-v3"],
  connect: Effect.fn("plivo.connect")(openTrunk),
  setup: (_, host) => [publicAddressStep("Plivo", host)],
  // The signature covers the bytes, by which a repeat is known; its nonce adds nothing to that.
  read: ({ auth_token }, callback) => {
    const proof = proofOf(callback, auth_token)
    return proof === undefined ? undefined : readDialect(callback, proof, CURRENCY)
  },
  media: { admit: ({ auth_token }, upgrade) => proofOf(upgrade, auth_token) !== undefined, accept: jsonMedia(checkpointDialect) },
  rateKey: ({ auth_id }) => auth_id,
  verify: (config, context) => verifyAccount(accountOf(config), context)
})
