/**
 * Vobiz through its REST interface, which speaks Plivo's dialect. Calls are reported in callbacks, and their audio comes over websockets that Vobiz
 * opens, so the engine needs a public address.
 */
import { Effect } from "effect"
import { verifyAccount } from "#adapters/shared/HostedCarrier.ts"
import { checkpointDialect, jsonMedia } from "#adapters/shared/JsonMedia.ts"
import { CALL_SECONDS, RING_SECONDS } from "#adapters/shared/PlivoDialectRequest.ts"
import { publicAddressStep } from "#adapters/shared/setup.ts"
import { defineAdapter } from "#core/provider/Adapter.ts"
import * as Credential from "#core/provider/Credential.ts"
import { admits, readCallback } from "./VobizCallback.ts"
import { accountOf, openTrunk } from "./VobizTrunk.ts"

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
  fields: {
    auth_id: {
      ...Credential.identifier({ label: "Account ID", description: "From Vobiz' console", placeholder: "MA_XXXXXXXX" }),
      sensitive: true,
      pattern: "^(MA|SA)_[0-9A-Za-z]{1,64}$"
    },
    auth_token: {
      ...Credential.token({ label: "Auth Token", description: "Authenticates requests, and signs Vobiz' callbacks" }),
      pattern: "^[!-~]{1,200}$"
    },
    application_id: Credential.optionalText({
      label: "Application ID",
      description: "Application for incoming calls; not needed for outgoing ones",
      pattern: "^[0-9A-Za-z-]{0,64}$"
    }),
    from_numbers: Credential.optionalList({
      label: "Phone Numbers",
      description: "Caller ids to show, in E.164",
      placeholder: "+910000000000"
    })
  },
  callbackHeaders: ["v3", "v2"].flatMap((version) => [
    `x-vobiz-signature-${version}`,
    `x-vobiz-signature-${version}-nonce`,
    `x-vobiz-signature-ma-${version}`
  ]),
  connect: Effect.fn("vobiz.connect")(openTrunk),
  setup: (_, host) => [publicAddressStep("Vobiz", host)],
  read: ({ auth_token }, callback) => readCallback(auth_token, callback),
  media: { admit: ({ auth_token }, upgrade) => admits(auth_token, upgrade), accept: jsonMedia(checkpointDialect) },
  rateKey: ({ auth_id }) => auth_id,
  verify: (config, context) => verifyAccount(accountOf(config), context)
})
