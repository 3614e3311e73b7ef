/** Telnyx Call Control v2: calls are placed over REST and followed through signed webhooks; Telnyx opens a websocket for the audio of each. */
import { setupOf, verifyAccount } from "#adapters/shared/HostedCarrier.ts"
import { jsonMedia, telnyxDialect } from "#adapters/shared/JsonMedia.ts"
import { enteredStep } from "#adapters/shared/setup.ts"
import { defineAdapter } from "#core/provider/Adapter.ts"
import { publicKeyOf } from "./signature.ts"
import { accountOf, fields } from "./TelnyxAccount.ts"
import { prepare } from "./TelnyxApplication.ts"
import { readCallback } from "./TelnyxCallback.ts"
import { CALL_SECONDS, connect, RING_SECONDS } from "./TelnyxTrunk.ts"

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
    longestCallSeconds: CALL_SECONDS.most,
    needsCallerId: true,
    accountField: "connection_id"
  },
  fields,
  callbackHeaders: ["telnyx-signature-ed25519", "telnyx-timestamp"],
  connect,
  read: ({ webhook_public_key }, callback) => readCallback(callback, publicKeyOf(webhook_public_key)),
  // The key is the only thing that names the account.
  rateKey: ({ api_key }) => api_key,
  setup: (config, host) => [
    ...setupOf(accountOf(config), host),
    ...enteredStep("webhook_url", "Webhook address", "Enter it as the application's webhook URL", host.callbackUrl?.("event"))
  ],
  prepare,
  // Telnyx does not sign the request for the socket: the address is all that proves who comes.
  media: { accept: jsonMedia(telnyxDialect) },
  verify: (config, context) => verifyAccount(accountOf(config), context)
})
