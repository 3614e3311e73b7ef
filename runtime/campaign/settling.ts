/**
 * Settles an attempt that has no actor, because an earlier process left it behind or the database has forgotten its end. If it was certainly
 * never sent it becomes void; a known end is recorded; all others get an actor that asks the provider.
 */
import { Clock, Effect } from "effect"
import type { LeftAttempt } from "#core/call/Attempt.ts"
import { type CallLimits, CallState } from "#core/call/Call.ts"
import { recoverAnswered, recoverElsewhere, recoverHanded, recoverMuted, recoverSent } from "#core/call/recoveredCall.ts"
import type { CampaignId, OrganizationId, TelephonyConfigId } from "#core/Id.ts"
import type { CallRef } from "#core/provider/CallRef.ts"
import { CarrierDeliveries } from "#core/provider/CarrierDeliveries.ts"
import * as SteadyTime from "#core/SteadyTime.ts"
import { BrowserTrunk } from "#runtime/browser/BrowserTrunk.ts"
import { CallJournal } from "#runtime/call/CallJournal.ts"
import { CallsElsewhere } from "#runtime/call/CallsElsewhere.ts"
import { CallSupervisor } from "#runtime/call/CallSupervisor.ts"
import { bareEnd } from "#runtime/call/RunReport.ts"
import { Config } from "#runtime/config/config.ts"
import { ConversationRecords } from "#runtime/conversation/ConversationRecords.ts"
import { callerKey, Slots } from "#runtime/dispatch/Slots.ts"
import type { KnownCall } from "#runtime/journal/FormerJournals.ts"
import { LocalJournal, uptimeMillis } from "#runtime/journal/LocalJournal.ts"
import { TrunkPool } from "#runtime/trunk/TrunkPool.ts"
import { MediaRoom } from "#runtime/voice/MediaRoom.ts"
import { CampaignInboxes } from "./CampaignInbox.ts"

/** How long ago a request left, in milliseconds, according to its journal: database times depend on clocks that may have been set since. */
export const ageOf = ({ leftAtUptime }: KnownCall): number | undefined =>
  leftAtUptime === undefined ? undefined : Math.max(uptimeMillis() - leftAtUptime, 0)

/** The database may not yet have everything that the call's process wrote to its local journal. */
export const withKnown = (call: CallRef, { endpoint, providerCallId }: KnownCall): CallRef => ({
  ...call,
  endpoint: call.endpoint ?? endpoint,
  providerCallId: providerCallId ?? call.providerCallId
})

/** The scopes in which a call already in progress counts, even if that exceeds their limits. */
export const scopesOf = (
  campaignId: CampaignId | undefined,
  attempt: {
    readonly call: CallRef
    readonly organizationId: OrganizationId
    readonly telephonyConfigurationId: TelephonyConfigId | undefined
  }
) => [
  ...(campaignId === undefined ? [] : [{ key: `campaign:${campaignId}`, limit: undefined }]),
  { key: `organization:${attempt.organizationId}`, limit: undefined },
  ...(attempt.telephonyConfigurationId === undefined ? [] : trunkScopesOf(attempt.telephonyConfigurationId, attempt.call))
]

const trunkScopesOf = (id: TelephonyConfigId, { from }: CallRef) => [
  { key: callerKey(id, from), limit: undefined },
  { key: `trunk:${id}`, limit: undefined }
]

/** Returns the news for the campaign if settling ended the attempt. */
export const settler = Effect.gen(function* () {
  const conversations = yield* ConversationRecords
  const elsewhere = yield* CallsElsewhere
  const journal = yield* CallJournal
  const local = yield* LocalJournal
  const supervisor = yield* CallSupervisor
  const slots = yield* Slots
  const browsers = yield* BrowserTrunk
  const pool = yield* TrunkPool
  const media = yield* MediaRoom
  const deliveries = yield* CarrierDeliveries
  const inboxes = yield* CampaignInboxes
  const { nodeName } = yield* Config
  const clock = yield* Clock.Clock
  const firstOf =
    ({ answeredAt, call: { sentAt }, node }: LeftAttempt, known: KnownCall, hasCallbacks: boolean) =>
    (limits: CallLimits) => {
      const answered = answeredAt ?? known.answeredAt
      const trace = known.placed ? "placed" : "none"
      const past = (wall: number) => SteadyTime.steadyPast(clock, wall)
      const { aliveAt, mutedAt, transfers } = known
      if (answered !== undefined && mutedAt !== undefined && transfers !== undefined) return recoverHanded(past(answered), transfers)
      if (answered !== undefined && mutedAt !== undefined) return recoverMuted(past(answered), past(mutedAt))
      if (answered !== undefined) return recoverAnswered(past(answered), aliveAt === undefined ? undefined : past(aliveAt))
      return node === nodeName
        ? recoverSent(limits, SteadyTime.steadyPast(clock, sentAt), trace)
        : recoverElsewhere(limits, trace, !hasCallbacks)
    }
  return Effect.fnUntraced(function* (attempt: LeftAttempt) {
    const { callId, campaign, state, telephonyConfigurationId } = attempt
    const now = yield* Clock.currentTimeMillis
    const known = local.known(callId, attempt.journal)
    // Recorded first: nothing may be dialed before the opt-out is known.
    if (known.hasOptedOut && attempt.call.to !== undefined) yield* conversations.optedOut({ ...attempt, phoneNumber: attempt.call.to })
    if (known.end !== undefined) return yield* journal.ended(attempt, known.end)
    const neverLeft = state === "intent" || (state === "sent" && (known.left === "never_left" || elsewhere.hasNeverLeft(callId)))
    // The reply to its claim may still arrive in this process; once withheld, the call cannot be sent.
    if (known.undone !== undefined || (neverLeft && local.withhold(callId)))
      return yield* journal.neverPlaced(attempt, known.undone ?? { at: now, breakerEntry: false })
    const answeredAt = attempt.answeredAt ?? known.answeredAt
    // A browser that was not connected yet has lost nothing, and its page can no longer reach this call.
    const browsersTrunk = answeredAt === undefined ? undefined : browsers.trunk
    const trunk = telephonyConfigurationId === undefined ? browsersTrunk : yield* pool.get(telephonyConfigurationId)
    if (trunk === undefined) {
      // No trunk is left that could tell what became of the call.
      const cause = answeredAt === undefined && telephonyConfigurationId !== undefined ? "written_off" : "node_lost"
      const ended = CallState.cases.Ended.make({ cause, endedAt: now, ...(answeredAt === undefined ? {} : { answeredAt }) })
      return yield* journal.ended(attempt, bareEnd(callId, ended))
    }
    slots.adopt(callId, [...scopesOf(campaign?.campaignId, attempt), media.scope(true)])
    const ageMillis = ageOf(known)
    const sentAt = ageMillis === undefined ? attempt.call.sentAt : now - ageMillis
    const resumed = { ...attempt, answeredAt, call: { ...withKnown(attempt.call, known), sentAt } }
    // Events that the carrier delivered to the earlier process and will not deliver again. The call hears them before it is looked up.
    const hasCallbacks = trunk.adapter.read !== undefined
    const told = hasCallbacks && telephonyConfigurationId !== undefined ? yield* deliveries.of(telephonyConfigurationId, callId) : []
    if (answeredAt !== undefined) conversations.brokeOff(callId)
    const watcher = campaign === undefined ? {} : inboxes.watcher(campaign.campaignId)
    yield* supervisor.resume(resumed, trunk, firstOf(resumed, known, hasCallbacks), watcher)
    for (const event of told) trunk.hear(callId, event)
    return undefined
  })
})
