/**
 * Vonage's Voice API: calls are placed over REST with the application's key, and followed through signed webhooks; Vonage opens a websocket for the
 * audio of each.
 */
import { Effect } from "effect"
import { publicAddressStep } from "#adapters/shared/setup.ts"
import { defineAdapter } from "#core/provider/Adapter.ts"
import * as Credential from "#core/provider/Credential.ts"
import { fieldSteps, verify } from "./VonageAccount.ts"
import { prepare } from "./VonageApplication.ts"
import { vonageMedia } from "./VonageMedia.ts"
import { LONGEST_CALL_SECONDS, LONGEST_RING_SECONDS } from "./VonageRequest.ts"
import { readCallback } from "./VonageStatus.ts"
import { openTrunk } from "./VonageTrunk.ts"

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
    longestRingSeconds: LONGEST_RING_SECONDS,
    longestCallSeconds: LONGEST_CALL_SECONDS,
    needsCallerId: true,
    accountField: "api_key"
  },
  fields: {
    application_id: {
      ...Credential.identifier({
        label: "Application ID",
        description:
          "Id of the application that calls are placed through; it needs the voice capability. If it and its key are left out, the engine creates one",
        placeholder: "aaaaaaaa-bbbb-cccc-dddd-0123456789ab"
      }),
      required: false
    },
    private_key: {
      ...Credential.secret({
        label: "Private Key",
        description: "The application's private key, as its file was downloaded",
        placeholder: "-----BEGIN PRIVATE KEY-----"
      }),
      required: false,
      type: "textarea",
      normal: "pem"
    },
    created_application_id: Credential.managed("application_id", {
      label: "Created Application",
      description: "Id of the application that the engine has created"
    }),
    created_private_key: {
      ...Credential.managed("private_key", {
        label: "Created Key",
        description: "Private key of the application that the engine has created"
      }),
      sensitive: true,
      normal: "pem"
    },
    api_key: { ...Credential.identifier({ label: "API Key", description: "The account's key", placeholder: "a1b2c3d4" }), sensitive: true },
    api_secret: { ...Credential.secret({ label: "API Secret", description: "The account's secret" }), normal: "trimmed" },
    signature_secret: {
      ...Credential.secret({
        label: "Signature Secret",
        description: "The account's signature secret, with which webhooks are verified. Without it no call is placed"
      }),
      required: false,
      normal: "trimmed"
    },
    from_numbers: Credential.optionalList({ label: "Phone Numbers", description: "Caller ids in E.164 format", placeholder: "+15550100" })
  },
  setup: (config, host) => [publicAddressStep("Vonage", host), ...fieldSteps(config)],
  callbackHeaders: ["authorization"],
  connect: Effect.fn("vonage.connect")(openTrunk),
  read: ({ api_key, signature_secret }, callback) => readCallback({ apiKey: api_key, signatureSecret: signature_secret }, callback),
  prepare,
  // The signature of the request for the socket is not documented for a request without a body: the address is all that proves who comes.
  media: { accept: vonageMedia() },
  rateKey: ({ api_key }) => api_key,
  verify
})
