/**
 * Twilio through its REST interface. Calls are reported in callbacks, and their audio comes over websockets that Twilio opens, so the engine needs a
 * public address. https://www.twilio.com/docs/voice/media-streams/websocket-messages
 */
import { Effect } from "effect"
import { verifyAccount } from "#adapters/shared/HostedCarrier.ts"
import { jsonMedia, streamSidDialect } from "#adapters/shared/JsonMedia.ts"
import { defineAdapter } from "#core/provider/Adapter.ts"
import * as Credential from "#core/provider/Credential.ts"
import { publicAddressStep } from "#adapters/shared/setup.ts"
import { proofOf } from "./signature.ts"
import { LONGEST_CALL_SECONDS, LONGEST_RING_SECONDS } from "./TwilioRequest.ts"
import { readCallback } from "./TwilioStatus.ts"
import { accountOf, openTrunk } from "./TwilioTrunk.ts"

/** https://www.twilio.com/docs/api/errors/21609 */
const refusesHost = ({ hostname }: URL): string | undefined => (hostname.includes("_") ? "its host name has an underscore" : undefined)

export default defineAdapter({
  manifest: {
    contract: 2,
    provider: "twilio",
    displayName: "Twilio",
    docsUrl: "https://www.twilio.com/docs/voice/api/call-resource",
    // More are not refused but queued for up to a day, and would ring at any hour.
    callsPerSecond: 1,
    originatesInFlight: 4,
    tells: ["ringing", "queue", "undialed", "keys", "marks", "answerer", "cost", "unnamed"],
    signs: ["address", "query", "body", "socket"],
    longestRingSeconds: LONGEST_RING_SECONDS,
    longestCallSeconds: LONGEST_CALL_SECONDS,
    needsCallerId: true,
    pricesRecords: true,
    accountField: "account_sid"
  },
  fields: {
    account_sid: {
      ...Credential.identifier({
        label: "Account SID",
        description: "From the account's dashboard in Twilio's console",
        placeholder: "AC00000000000000000000000000000000"
      }),
      sensitive: true,
      pattern: "^AC[0-9a-fA-F]{32}$"
    },
    auth_token: {
      ...Credential.token({ label: "Auth Token", description: "Authenticates requests, and signs Twilio's callbacks" }),
      pattern: "^[0-9a-fA-F]{32}$"
    },
    from_numbers: Credential.optionalList({
      label: "Phone Numbers",
      description: "Caller ids to show, in E.164",
      placeholder: "+15550100"
    }),
    amd_enabled: Credential.optionalBoolean({ label: "Answering Machine Detection", description: "Twilio bills it per call" })
  },
  connect: Effect.fn("twilio.connect")(openTrunk),
  setup: (_, host) => [publicAddressStep("Twilio", host, refusesHost)],
  callbackHeaders: ["x-twilio-signature"],
  read: ({ auth_token }, callback) => readCallback(auth_token, callback),
  rateKey: ({ account_sid }) => account_sid,
  media: { admit: ({ auth_token }, upgrade) => proofOf(upgrade, auth_token) !== undefined, accept: jsonMedia(streamSidDialect) },
  verify: (config, context) => verifyAccount(accountOf(config), context)
})
