/** What the owner of a campaign keeps between two turns, and what a turn can wait for. */
import type { DialPlan } from "#core/campaign/CampaignOwnership.ts"
import { compile, type Schedule } from "#core/campaign/Schedule.ts"
import type { SteadyMillis } from "#core/SteadyTime.ts"
import type { Permit } from "#runtime/call/LiveCall.ts"
import type { RateQueue } from "#runtime/dispatch/CallRate.ts"
import type { SlotQueue } from "#runtime/dispatch/Slots.ts"
import type { LiveTrunk } from "#runtime/trunk/TrunkPool.ts"
import { ClaimTimes } from "./ClaimTimes.ts"
import type { CampaignInbox, StuckOn } from "./CampaignInbox.ts"
import { TrunkGate } from "./TrunkGate.ts"

/** What a turn waits for, besides the window's next edge. `Due`: nothing can be claimed before a retry falls due. */
export type Wait =
  | { readonly _tag: "Until"; readonly until: SteadyMillis; readonly stuckOn?: StuckOn }
  | { readonly _tag: "Due" }
  | { readonly _tag: "News" }
  | { readonly _tag: "Over" }
export const until = (at: SteadyMillis): Wait => ({ _tag: "Until", until: at })
/** For what should be over in a moment, of which the campaign's log therefore says nothing. */
export const briefly = (at: SteadyMillis, stuckOn: StuckOn): Wait => ({ _tag: "Until", until: at, stuckOn })
export const due: Wait = { _tag: "Due" }
export const news: Wait = { _tag: "News" }
export const over: Wait = { _tag: "Over" }

/** The actor's memory. All of it can be rebuilt from the campaign's row. */
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
  /** When the next retry falls due; epoch milliseconds. */
  dueAt: number
  windowOpen: boolean | undefined
  /** When the window opens or closes next; epoch milliseconds. */
  edgeAt: number
  readonly gate: TrunkGate
  capacityLoggedAt: number
  mediaLoggedAt: number
  /** The next calls are expected to. */
  needsAudio: boolean
  missedLoggedAt: SteadyMillis
  numbersLoggedAt: number
}

export const remember = (
  plan: DialPlan,
  inbox: CampaignInbox,
  queue: SlotQueue,
  turns: RateQueue,
  wallNow: () => number
): CampaignMemory => {
  const memory: CampaignMemory = {
    capacityLoggedAt: Number.NEGATIVE_INFINITY,
    claims: new ClaimTimes(),
    mediaLoggedAt: Number.NEGATIVE_INFINITY,
    needsAudio: true,
    missedLoggedAt: Number.NEGATIVE_INFINITY,
    numbersLoggedAt: Number.NEGATIVE_INFINITY,
    inbox,
    dueAt: Number.POSITIVE_INFINITY,
    edgeAt: Number.POSITIVE_INFINITY,
    gate: new TrunkGate(),
    more: true,
    permit: {
      holds: () => inbox.mayDial(memory.plan.ownerEpoch) && memory.schedule.stateAt(wallNow()).open
    },
    plan,
    queue,
    schedule: compile(plan.schedule ?? undefined),
    trunk: undefined,
    turns,
    unwatch: () => {},
    windowOpen: undefined
  }
  return memory
}
