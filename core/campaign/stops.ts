/** Entries of a campaign's log about the engine's own decisions. They contain no phone number and no credential. */
import type { AutomaticStop, Once } from "./CampaignOwnership.ts"
import type { FatalReason } from "#core/provider/FatalReason.ts"
import type { CampaignEvent } from "#core/CampaignLog.ts"
import type { Trouble, TroubleKind } from "#core/provider/TrunkHealth.ts"
import { nextOpenAt, ofMedia } from "./LastWords.ts"
import type { NumbersLacking } from "#core/telephony/CallerId.ts"

export interface Note {
  readonly level: "info" | "warning" | "error"
  readonly event: CampaignEvent
  readonly message: string
  readonly details?: Readonly<Record<string, unknown>>
  /** See `CampaignOwnership`. */
  readonly isDaily?: boolean
  readonly once?: Once
}

const iso = (at: number | undefined) => (at === undefined || !Number.isFinite(at) ? null : new Date(at).toISOString())

export const authFailed = (detail: string): AutomaticStop => ({
  details: { detail },
  event: "telephony_auth_failed",
  level: "error",
  message: "Paused: the telephony provider rejects our credentials."
})
export const unreachable = (detail: string): AutomaticStop => ({
  details: { detail },
  event: "telephony_unreachable",
  level: "error",
  message: "Paused: the telephony provider cannot be reached."
})
/** `detail`: why the provider cannot reach us, and what to do about it. */
export const unheard = (detail: string): AutomaticStop => ({
  details: { detail },
  event: "telephony_unreachable",
  level: "error",
  message: "Paused: the telephony provider cannot reach this engine."
})
/** Why a campaign has no trunk. `configuration`: it names none and there is no default, or it is gone. `adapter`: its provider is not installed. */
export type NoTrunk = { readonly lack: "configuration" } | { readonly lack: "adapter"; readonly provider: string }
export const noTrunk = (why: NoTrunk): AutomaticStop =>
  why.lack === "configuration"
    ? unavailable(
        "Paused: there is no usable telephony configuration.",
        "The campaign names no telephony configuration that exists, and the organization has no default. Choose one, then resume the campaign."
      )
    : unavailable(
        "Paused: this engine does not have the adapter of the telephony configuration's provider.",
        `Install the adapter of "${why.provider}" and restart the engine, or choose another configuration, then resume the campaign.`
      )

/** A hosted carrier places no call without a caller ID. */
export const noNumber = ({ inactive, other, refused }: NumbersLacking): AutomaticStop => {
  const reasons = [
    ...(inactive > 0 ? [`inactive: ${inactive}`] : []),
    ...(refused > 0 ? [`refused by the provider: ${refused}`] : []),
    ...(other > 0 ? [`not a number that a phone can show: ${other}`] : [])
  ]
  const others = reasons.length === 0 ? "It has no phone numbers." : `None of its phone numbers can be used (${reasons.join("; ")}).`
  return unavailable(
    "Paused: the telephony configuration has no phone number left to call from.",
    `${others} Add or activate one, then resume the campaign.`
  )
}

const unavailable = (message: string, detail: string): AutomaticStop => ({
  details: { detail },
  event: "telephony_configuration_unavailable",
  level: "warning",
  message
})
/** For an agent without a published version, or with one that an earlier release with laxer rules published. */
export const agentUnfinished = (flaw: string): AutomaticStop => ({
  details: { detail: flaw },
  event: "agent_unfinished",
  level: "error",
  message: "Paused: the agent's published version is missing or not finished, so callees would hear nothing."
})
/** `detail`: the provider's own words, or the engine's where it could not ask the provider. */
export const refused = (reason: FatalReason, detail: string): AutomaticStop => {
  switch (reason) {
    case "auth_refused":
      return authFailed(detail)
    case "no_credit":
      return {
        details: { detail },
        event: "quota_exhausted",
        level: "warning",
        message: "Paused: the telephony provider has no credit left for us."
      }
    case "misconfigured":
      return unavailable("Paused: no call can be placed with the telephony configuration as it is.", detail)
    case "unexplained":
      return unavailable(
        "Paused: the telephony provider refused one number after the other, for a reason that the engine does not know.",
        detail
      )
  }
}
export const died: AutomaticStop = {
  details: { by: "engine" },
  event: "campaign_paused",
  level: "error",
  message:
    "Paused: the campaign failed five times within a minute; the engine's log has the reason. The engine tries to resume it, at growing intervals, until it succeeds or somebody pauses, changes or resumes the campaign."
}

export const windowClosed = (opensAt: number | undefined): Note => ({
  details: { [nextOpenAt]: iso(opensAt) },
  event: "schedule_window_closed",
  level: "info",
  message: "The calling window is closed."
})
export const windowOpened = (closesAt: number | undefined): Note => ({
  details: { closes_at: iso(closesAt) },
  event: "schedule_window_opened",
  level: "info",
  message: "The calling window has opened."
})
export const numbersExhausted: Note = {
  event: "phone_number_pool_exhausted",
  level: "warning",
  message: "All phone numbers of the telephony configuration are at their limit of calls."
}
export const greetingsMissed = (calls: number): Note => ({
  details: { calls },
  event: "greeting_missed",
  level: "warning",
  message: "Callees heard nothing for two seconds after they answered: their greetings were not ready."
})
/** `detail`: the provider's words of the latest of these refusals. */
export const contactsRefused = ({ calls, detail }: { readonly calls: number; readonly detail: string }): Note => ({
  details: { calls, detail },
  event: "contacts_refused",
  level: "warning",
  message: "The telephony provider refused contacts for a reason that the engine does not know; they have failed."
})
export const notHeard = (detail: string): Note => ({
  details: { detail },
  event: "telephony_unreachable",
  level: "warning",
  message: "The telephony provider cannot reach this engine, so nothing is dialed."
})
export const carrierRefused = (what: "callback" | "media"): Note => ({
  details: { request: what },
  isDaily: true,
  event: "carrier_request_refused",
  level: "warning",
  message:
    "The engine refused a carrier's request about a call, because its signature is wrong: check the secret in the telephony configuration. Callees may hear nothing."
})
export const queuedCallsWithdrawn = (calls: number): Note => ({
  details: { calls },
  event: "queued_calls_withdrawn",
  level: "info",
  message: "Calls that waited in the carrier's queue were taken out of it before their phones rang; their contacts are as before."
})
export const waitingForCapacity: Note = {
  event: "waiting_for_capacity",
  level: "warning",
  message: "Other calls use all the capacity."
}
export const waitingForMedia = (limit: number): Note => ({
  details: { [ofMedia]: limit },
  event: "waiting_for_capacity",
  level: "warning",
  message: "The engine carries as many calls with audio as it can serve in time, or as it is configured for."
})

/** `calls`: how many of the campaign's calls are in doubt. */
export const waitingForDoubts = (calls: number): Note => ({
  details: { calls_in_doubt: calls },
  event: "waiting_for_capacity",
  level: "warning",
  message: "Calls that may or may not have been placed keep the capacity until they can no longer appear, for ten minutes at most."
})

const failing: Readonly<Record<TroubleKind, string>> = {
  doubted: "It does not answer, or answers with errors that leave open whether a call was placed.",
  limited: "It refuses every call and asks for fewer.",
  unreachable: "It repeatedly failed to begin a call."
}
export const whatFails = ({ detail, kind }: Trouble): string => `${failing[kind]} The latest answer: ${detail}`

/** `restMillis`: how long nothing leaves. */
export const trunkTrouble = ({ detail, kind }: Trouble, restMillis: number): Note => ({
  details: { reason: kind, detail, retry_after_seconds: Math.max(0, Math.ceil(restMillis / 1000)) },
  event: kind === "limited" ? "provider_rate_limited" : "telephony_suspect",
  level: "warning",
  message:
    kind === "limited"
      ? "The telephony provider asks for fewer calls; one call at a time probes it until it takes them again."
      : "The telephony provider does not take calls as it should; one call at a time probes it until it does."
})
export const trunkRecovered: Note = {
  event: "telephony_recovered",
  level: "info",
  message: "The telephony provider takes calls again."
}
/** `name`: one of several endpoints. `detail`: its own words. */
export const endpointTrouble = (name: string, detail: string): Note => ({
  details: { endpoint: name, detail },
  event: "telephony_suspect",
  level: "warning",
  message: "One of the telephony provider's endpoints does not take calls as it should; the others take them meanwhile."
})
export const endpointRecovered = (name: string): Note => ({
  details: { endpoint: name },
  event: "telephony_recovered",
  level: "info",
  message: "An endpoint of the telephony provider takes calls again."
})
