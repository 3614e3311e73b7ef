/** Vonage's statuses in the engine's terms, and its limits. */
import type { HangupCause } from "#core/outcome/HangupCause.ts"
import type { Check, OriginateRefused, Presence } from "#core/provider/Adapter.ts"
import type { TrunkEvent } from "#core/provider/TrunkEvent.ts"

export const RING_SECONDS = { least: 1, most: 120 }
export const CALL_SECONDS = { least: 1, most: 7200 }
/** How long to wait for a machine's beep: the shortest time that Vonage accepts. */
export const BEEP_SECONDS = 45
/** The most calls or numbers that Vonage puts on a page. */
export const PAGE_SIZE = 100

type Reason = OriginateRefused["reason"]

/** What an error of Vonage itself says about a request for a call, by HTTP status. No other status proves anything. */
export const refusalsByStatus: ReadonlyMap<number, Reason> = new Map<number, Reason>([
  [400, "unexplained"],
  [401, "auth_refused"],
  [402, "no_credit"],
  [403, "unexplained"],
  [429, "rate_limited"]
])

/** By the type of the error, if it says more than the status. https://developer.vonage.com/en/api-errors */
export const refusalsByType: ReadonlyMap<string, Reason> = new Map<string, Reason>([
  ["low-balance", "no_credit"],
  ["out-of-credit", "no_credit"],
  ["throttled", "rate_limited"],
  ["unauthorized", "auth_refused"]
])

/** By the member of the request that is invalid. */
export const refusalsByMember: ReadonlyMap<string | undefined, Reason> = new Map<string, Reason>([
  ["from", "caller_id_refused"],
  ["to", "number_refused"],
  ["answer_url", "misconfigured"],
  ["event_url", "misconfigured"],
  ["ncco", "misconfigured"]
])

/** The state of a call, by its status. https://developer.vonage.com/en/voice/voice-api/guides/call-flow#event-objects */
export const presences: ReadonlyMap<string | undefined, Presence> = new Map<string, Presence>([
  ["started", "ringing"],
  ["ringing", "ringing"],
  ["answered", "up"],
  ["human", "up"],
  ["machine", "up"],
  ["busy", "ended"],
  ["cancelled", "ended"],
  ["canceled", "ended"],
  ["complete", "ended"],
  ["completed", "ended"],
  ["failed", "ended"],
  ["rejected", "ended"],
  ["timeout", "ended"],
  ["unanswered", "ended"]
])

/** What a webhook reports about a call that has not ended, by its status. */
export const events: ReadonlyMap<string | undefined, TrunkEvent> = new Map<string, TrunkEvent>([
  ["started", { _tag: "Placed" }],
  ["ringing", { _tag: "Rang" }],
  ["answered", { _tag: "Answered" }],
  ["human", { _tag: "Detected", who: "human" }],
  ["machine", { _tag: "Detected", who: "machine" }]
])

/** Why a call ended, by its status. */
export const causesByStatus: ReadonlyMap<string | undefined, HangupCause> = new Map<string, HangupCause>([
  ["busy", "user_busy"],
  ["cancelled", "originator_cancel"],
  ["canceled", "originator_cancel"],
  ["complete", "normal_clearing"],
  ["completed", "normal_clearing"],
  ["failed", "temporary_failure"],
  ["rejected", "call_rejected"],
  ["timeout", "ring_timeout"],
  ["unanswered", "no_answer"]
])

/** By status and detail, if the detail says more. */
export const causesByDetail: ReadonlyMap<string, HangupCause> = new Map<string, HangupCause>([
  ["failed cannot_route", "unallocated_number"],
  ["failed carrier_timeout", "congestion"],
  ["failed number_out_of_service", "unallocated_number"],
  ["rejected invalid_number", "invalid_number_format"],
  ["rejected restricted", "facility_rejected"],
  ["unanswered timeout", "ring_timeout"]
])

const application = (result: Check["result"], message: string, advice: string): Check => ({ name: "application", result, message, advice })

/** What the test of a configuration says about the account's key and the application. */
export const applicationChecks = {
  refused: application(
    "failed",
    "Vonage refuses the account's key and secret.",
    "Copy `api_key` and `api_secret` from the account's settings in Vonage's dashboard."
  ),
  unknown: application(
    "failed",
    "The account has no application with this `application_id`.",
    "Copy `application_id` from an application of the same account."
  ),
  unsigned: application(
    "failed",
    "The application's webhooks are not signed, so none of them would be believed.",
    "Switch on signed webhooks in the application's voice settings."
  ),
  found: { name: "application", result: "passed", message: "The account has the application, and its webhooks are signed." }
} as const satisfies Readonly<Record<string, Check>>
