import t from "tap"
import { type CampaignStanding, waitingFor, type Waiting } from "#core/campaign/WaitingFor.ts"
import type { Contact } from "#core/contact/Contact.ts"

const now = Date.UTC(2026, 0, 5, 12)
const at = (hours: number) => new Date(now + hours * 3_600_000)
const pending = { awaitsNumber: false, dueAt: undefined, state: "pending" } as const
const retry = (hours: number) => ({ awaitsNumber: false, dueAt: at(hours), state: "retry_wait" }) as const
const free: CampaignStanding = {
  calls: [
    { limit: undefined, up: 5 },
    { limit: 3, up: 2 }
  ],
  isTrunkDown: false,
  state: "running",
  window: { open: true, closesAt: at(1).getTime() }
}
const closed = (hours: number | undefined): CampaignStanding => ({
  ...free,
  window: { open: false, opensAt: hours === undefined ? undefined : at(hours).getTime() }
})
const full: CampaignStanding = { ...free, calls: [...free.calls, { limit: 2, up: 2 }] }

t.test("given a contact, then it waits for what ends last, in the order in which the campaign decides", async (t) => {
  const check = (
    contact: Pick<Contact, "awaitsNumber" | "dueAt" | "state">,
    campaign: CampaignStanding,
    reason: Waiting["reason"] | undefined,
    windowOpensAt?: Date
  ) => t.strictSame(waitingFor(contact, campaign, now), reason === undefined ? undefined : { reason, windowOpensAt }, String(reason))

  for (const state of ["dialing", "in_call", "completed", "failed", "cancelled"] as const) check({ ...pending, state }, full, undefined)
  for (const state of ["draft", "paused", "failed"] as const) check(pending, { ...closed(2), state }, "campaign_not_running")
  check(retry(2), free, "retry_due")
  check(retry(2), { ...full, isTrunkDown: true }, "retry_due")
  check(retry(0), free, "turn")
  check(retry(-1), free, "turn")
  check(pending, closed(2), "window", at(2))
  check(retry(1), closed(2), "window", at(2))
  check(retry(2), closed(2), "window", at(2))
  check(retry(3), closed(2), "retry_due")
  check(pending, closed(undefined), "window")
  check(retry(3), closed(undefined), "window")
  check(pending, { ...closed(2), isTrunkDown: true }, "window", at(2))
  check({ ...pending, awaitsNumber: true }, { ...full, isTrunkDown: true }, "trunk_down")
  check({ ...pending, awaitsNumber: true }, full, "number_in_call")
  check(pending, full, "slot")
  check(pending, { ...free, calls: [{ limit: 0, up: 0 }] }, "slot")
  check(pending, free, "turn")
})
