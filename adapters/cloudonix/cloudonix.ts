/**
 * Cloudonix through its REST API. Calls are reported in callbacks, and their audio comes over websockets that Cloudonix opens, so the engine needs a
 * public address. How a call has ended is looked up.
 */
import { defineHostedAdapter } from "#adapters/shared/hostedAdapter.ts"
import { at } from "#adapters/shared/Json.ts"
import { jsonMedia, streamSidDialect } from "#adapters/shared/JsonMedia.ts"
import { accountOf, fields } from "./CloudonixAccount.ts"
import { readCallback } from "./CloudonixCallback.ts"
import { tokenIn } from "./CloudonixReplies.ts"
import { connect } from "./CloudonixTrunk.ts"
import { proofOf } from "./staticKey.ts"

/** `callSid` is a SIP id, which Cloudonix' API does not know; the start of a stream also names the session. */
const sessionOf = (start: unknown) => tokenIn(at(start, "start"), "session")

export default defineHostedAdapter({
  manifest: {
    provider: "cloudonix",
    displayName: "Cloudonix",
    docsUrl: "https://developers.cloudonix.com/Documentation/core-api",
    // A domain may make one request per second. Each call takes at least two, one to place it and one to learn how it ended, and hang-ups need room.
    callsPerSecond: 0.38,
    originatesInFlight: 4,
    tells: ["ringing", "keys", "unnamed"],
    answers: ["event", "media"],
    signs: [],
    transfers: ["attended"],
    accountField: "domain_id"
  },
  fields,
  account: accountOf,
  // Cloudonix limits each domain, whichever key is used.
  rateKey: ({ domain_id }) => domain_id,
  connect,
  callbackHeaders: ["x-cx-apikey", "authorization"],
  proofOf: (request, { authorization_api_key }) => proofOf(request, authorization_api_key),
  read: readCallback,
  media: jsonMedia({ ...streamSidDialect, callIdIn: sessionOf })
})
