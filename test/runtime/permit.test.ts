/** A campaign's permit near the end of its window: a call node may use a permission a moment later than it was given. */
import t from "tap"
import type { ScheduleConfig } from "#core/campaign/Schedule.ts"
import { remember } from "#runtime/campaign/CampaignMemory.ts"
import { CampaignInbox } from "#runtime/campaign/CampaignInbox.ts"

const schedule: ScheduleConfig = {
  enabled: true,
  slots: [0, 1, 2, 3, 4, 5, 6].map((dayOfWeek) => ({ dayOfWeek, endTime: "17:00", startTime: "09:00" })),
  timezone: "UTC"
}

t.test("given a window that is about to close, when a permit is to hold for a while", async (t) => {
  const closes = Date.UTC(2026, 10, 27, 17)
  let now = closes - 251
  const inbox = new CampaignInbox()
  inbox.open(1)
  // Cast: the permit reads nothing else of the plan, and neither of the queues.
  const given = { ownerEpoch: 1, schedule } as unknown as Parameters<typeof remember>[0]
  const unused = {} as unknown as Parameters<typeof remember>[3] & Parameters<typeof remember>[4]
  const { permit } = remember(given, [], inbox, unused, unused, () => now)
  t.ok(permit.holds(250), "then it holds if the window is open for longer")
  now = closes - 250
  t.notOk(permit.holds(250), "and does not if it closes before")
  t.ok(permit.holds(), "although it still holds now")
  now = closes
  t.notOk(permit.holds())
})
