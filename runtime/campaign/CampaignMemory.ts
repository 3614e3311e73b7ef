/** What the owner of a campaign keeps between two turns, and what a turn can wait for. */
import type { DialPlan } from "#core/campaign/CampaignOwnership.ts"
import { compile, type Schedule } from "#core/campaign/Schedule.ts"
import type { Permit } from "../call/LiveCall.ts"
import type { SlotQueue } from "../Slots.ts"
import type { LiveTrunk } from "../trunk/TrunkPool.ts"
import type { Desk } from "./Desk.ts"
import { TrunkGate } from "./TrunkGate.ts"

/** What a turn waits for. `until`: epoch milliseconds. */
export type Wait = { readonly _tag: "Until"; readonly until: number } | { readonly _tag: "News" } | { readonly _tag: "Over" }
export const until = (at: number): Wait => ({ _tag: "Until", until: at })
export const news: Wait = { _tag: "News" }
export const over: Wait = { _tag: "Over" }

/** The actor's memory; all of it can be had again from the campaign's row. */
export interface CampaignMemory {
  readonly desk: Desk
  readonly queue: SlotQueue
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
}

export const remember = (plan: DialPlan, desk: Desk, queue: SlotQueue): CampaignMemory => {
  const memory: CampaignMemory = {
    capacityLoggedAt: Number.NEGATIVE_INFINITY,
    desk,
    dueAt: Number.POSITIVE_INFINITY,
    edgeAt: Number.POSITIVE_INFINITY,
    gate: new TrunkGate(),
    more: true,
    permit: {
      entered: () => {
        desk.permits++
      },
      holds: (now) => desk.mayDial && memory.schedule.stateAt(now).open,
      left: () => {
        desk.permits--
      }
    },
    plan,
    queue,
    schedule: compile(plan.schedule ?? undefined),
    trunk: undefined,
    unwatch: () => {},
    windowOpen: undefined
  }
  return memory
}
