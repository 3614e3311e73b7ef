/** What the owner of a campaign keeps between two turns. */
import type { DialPlan } from "#core/campaign/CampaignOwnership.ts"
import { capacityTold, type CapacityWatch } from "#core/campaign/Capacity.ts"
import { begun, type CampaignWatch } from "#core/campaign/decide.ts"
import { lastAt, type LastWord } from "#core/campaign/LastWords.ts"
import { compile, type Schedule } from "#core/campaign/Schedule.ts"
import type { SteadyMillis } from "#core/SteadyTime.ts"
import type { Permit } from "#runtime/call/LiveCall.ts"
import type { RateQueue } from "#runtime/dispatch/CallRate.ts"
import type { SlotQueue } from "#runtime/dispatch/Slots.ts"
import type { LiveTrunk } from "#runtime/trunk/TrunkPool.ts"
import { ClaimTimes } from "./ClaimTimes.ts"
import type { CampaignInbox } from "./CampaignInbox.ts"

/** The result of a turn after which this node no longer runs the campaign. */
export const over = { _tag: "Over" } as const

/** The actor's memory. All of it can be rebuilt from the campaign's row and its log. */
export interface CampaignMemory {
  readonly inbox: CampaignInbox
  readonly queue: SlotQueue
  readonly turns: RateQueue
  readonly claims: ClaimTimes
  readonly permit: Permit
  plan: DialPlan
  schedule: Schedule
  trunk: LiveTrunk | undefined
  unwatch: () => void
  /** There may be contacts to claim now. */
  more: boolean
  /** Whether permits were held at the last turn. */
  mayDial: boolean
  /** When the next retry falls due; epoch milliseconds. */
  dueAt: number
  watch: CampaignWatch
  capacity: CapacityWatch
  /** Whether the next calls are expected to need audio. */
  needsAudio: boolean
  countedAt: SteadyMillis
}

/** `words`: what the campaign's log said last, the newest first, in steady time. */
export const remember = (
  plan: DialPlan,
  words: ReadonlyArray<LastWord>,
  inbox: CampaignInbox,
  queue: SlotQueue,
  turns: RateQueue,
  wallNow: () => number
): CampaignMemory => {
  const memory: CampaignMemory = {
    capacity: capacityTold(words),
    claims: new ClaimTimes(),
    needsAudio: true,
    countedAt: lastAt(words, ["greeting_missed", "contacts_refused"]),
    inbox,
    dueAt: Number.POSITIVE_INFINITY,
    mayDial: true,
    more: true,
    permit: {
      holds: (aheadMillis = 0) => {
        if (!inbox.mayDial(memory.plan.ownerEpoch)) return false
        const now = wallNow()
        const state = memory.schedule.stateAt(now)
        return state.open && (state.closesAt === undefined || state.closesAt > now + aheadMillis)
      }
    },
    plan,
    queue,
    schedule: compile(plan.schedule ?? undefined),
    trunk: undefined,
    turns,
    unwatch: () => {},
    watch: begun(words)
  }
  return memory
}
