/** Telnyx Call Control v2: calls are placed over REST and followed through signed webhooks; Telnyx opens a websocket for the audio of each. */
import { Effect } from "effect"
import { verifyAccount } from "#adapters/shared/HostedCarrier.ts"
import { jsonMedia, telnyxDialect } from "#adapters/shared/JsonMedia.ts"
import { defineAdapter } from "#core/provider/Adapter.ts"
import * as Credential from "#core/provider/Credential.ts"
import { publicKeyOf } from "./signature.ts"
import { LONGEST_CALL_SECONDS, RING_SECONDS } from "./TelnyxDial.ts"
import { prepare } from "./TelnyxApplication.ts"
import { readCallback } from "./TelnyxCallback.ts"
import { enteredStep, publicAddressStep } from "#adapters/shared/setup.ts"
import { accountOf, fieldSteps, openTrunk } from "./TelnyxTrunk.ts"

export default defineAdapter({
  manifest: {
    contract: 2,
    provider: "telnyx",
    displayName: "Telnyx",
    docsUrl: "https://developers.telnyx.com/docs/voice/programmable-voice",
    // Telnyx takes 30 dials per second, averaged over 5 s and over the whole account.
    callsPerSecond: 25,
    originatesInFlight: 16,
    tells: ["keys", "marks", "answerer", "cost", "unnamed"],
    signs: ["body", "time"],
    longestRingSeconds: RING_SECONDS.most,
    longestCallSeconds: LONGEST_CALL_SECONDS,
    needsCallerId: true,
    accountField: "connection_id"
  },
  fields: {
    api_key: Credential.token({ label: "API Key", description: "API v2 key", placeholder: "KEY..." }),
    connection_id: {
      ...Credential.optionalText({
        label: "Call Control App ID",
        description: "Id of the Call Control application that calls are placed through. If it is left out, the engine creates one",
        pattern: "^[A-Za-z0-9-]{0,64}$"
      }),
      normal: "token"
    },
    application_id: Credential.managed("connection_id", {
      label: "Call Control App",
      description: "Id of the application that the engine has created"
    }),
    webhook_public_key: {
      ...Credential.optionalText({
        label: "Webhook Public Key",
        description: "The account's public key, with which Telnyx' webhooks are verified. Without it no call is placed",
        placeholder: "A6EHv/POEL4dcN0Y50vAmWfk1jCbpQ1fHdyGZBJVMbg="
      }),
      type: "textarea",
      normal: "trimmed"
    },
    from_numbers: Credential.optionalList({ label: "Phone Numbers", description: "Caller ids in E.164 format", placeholder: "+15550100" })
  },
  callbackHeaders: ["telnyx-signature-ed25519", "telnyx-timestamp"],
  connect: Effect.fn("telnyx.connect")(openTrunk),
  read: ({ webhook_public_key }, callback) => readCallback(callback, publicKeyOf(webhook_public_key)),
  // The key is the only thing that names the account.
  rateKey: ({ api_key }) => api_key,
  setup: (config, host) => [
    publicAddressStep("Telnyx", host),
    ...fieldSteps(config),
    ...enteredStep("webhook_url", "Webhook address", "Enter it as the application's webhook URL", host.callbackUrl?.("event"))
  ],
  prepare,
  // Telnyx does not sign the request for the socket: the address is all that proves who comes.
  media: { accept: jsonMedia(telnyxDialect) },
  verify: (config, context) => verifyAccount(accountOf(config), context)
})
