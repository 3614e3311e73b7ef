/**
 * Cloudonix through its REST API. Calls are reported in callbacks, and their audio comes over websockets that Cloudonix opens, so the engine needs a
 * public address. How a call has ended is looked up.
 */
import { Effect } from "effect"
import { verifyAccount } from "#adapters/shared/HostedCarrier.ts"
import { publicAddressStep } from "#adapters/shared/setup.ts"
import { defineAdapter } from "#core/provider/Adapter.ts"
import * as Credential from "#core/provider/Credential.ts"
import { readCallback } from "./CloudonixCallback.ts"
import { acceptMedia } from "./cloudonixMedia.ts"
import { accountOf, openTrunk } from "./CloudonixTrunk.ts"

export default defineAdapter({
  manifest: {
    contract: 2,
    provider: "cloudonix",
    displayName: "Cloudonix",
    docsUrl: "https://developers.cloudonix.com/Documentation/core-api",
    // A domain may make one request per second. Each call takes at least two, one to place it and one to learn how it ended, and hang-ups need room.
    callsPerSecond: 0.38,
    originatesInFlight: 4,
    tells: ["ringing", "keys", "unnamed"],
    signs: [],
    needsCallerId: true,
    accountField: "domain_id"
  },
  fields: {
    bearer_token: Credential.token({ label: "Bearer Token", description: "API key of the domain or of its tenant", placeholder: "XI..." }),
    domain_id: {
      ...Credential.text({ label: "Domain Name", description: "The domain that calls are placed in", placeholder: "acme.cloudonix.net" }),
      // A name without a dot is one of Cloudonix' own domains.
      normal: { domain: "cloudonix.net" },
      pattern: "^[A-Za-z0-9][A-Za-z0-9.-]{0,252}$"
    },
    application_name: Credential.optionalText({
      label: "Application Name",
      description: "Voice application for inbound calls. Calls that are placed need none"
    }),
    from_numbers: Credential.optionalList({ label: "Phone Numbers", description: "Caller ids in E.164 format", placeholder: "+15550100" }),
    authorization_api_key: {
      ...Credential.secret({
        label: "Authorization API Key",
        description: "Only if the domain sends one with its callbacks: those without it are then refused"
      }),
      required: false,
      normal: "trimmed"
    }
  },
  setup: (_, host) => [publicAddressStep("Cloudonix", host)],
  callbackHeaders: ["x-cx-apikey", "authorization"],
  connect: Effect.fn("cloudonix.connect")(openTrunk),
  read: ({ authorization_api_key, domain_id }, callback) => readCallback(callback, domain_id, authorization_api_key),
  // Cloudonix limits each domain, whichever key is used.
  rateKey: ({ domain_id }) => domain_id,
  // Cloudonix signs nothing: the address is all that proves who comes.
  media: { accept: acceptMedia },
  verify: (config, context) => verifyAccount(accountOf(config), context)
})
