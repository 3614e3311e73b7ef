import t from "tap"
import { ClaimStarts } from "#core/call/ClaimStarts.ts"
import { CampaignId } from "#core/Id.ts"

const [id, other] = [CampaignId.make(1), CampaignId.make(2)]
const beginning = { row: 0, dueAt: 0 }
const minute = 60_000
const today = 1_000_000

t.test("given claims that have reached a row and a due time, then the next one begins there", async (t) => {
  const starts = new ClaimStarts()
  const look = starts.look(id, 0, today)
  t.strictSame([look.start, look.isFromBeginning], [beginning, true])
  look.reached({ row: 7 })
  t.strictSame([starts.look(id, 1, today).start, starts.look(id, 1, today).isFromBeginning], [{ row: 7, dueAt: 0 }, false])
  starts.look(id, 1, today).reached({ dueAt: 1000 })
  t.strictSame(starts.look(id, 2, today).start, { row: 7, dueAt: 1000 })
  t.strictSame(starts.look(other, 2, today).start, beginning, "and that of another campaign from the beginning")
})

t.test("given a claim that found too few, then the next one begins at the beginning", async (t) => {
  const starts = new ClaimStarts()
  starts.look(id, 0, today).reached({ row: 7, dueAt: 1000 })
  starts.look(id, 1, today).over()
  t.strictSame(starts.look(id, 2, today).start, beginning)
})

t.test("given a campaign that was forgotten while it claimed, then what that claim reached is ignored", async (t) => {
  const starts = new ClaimStarts()
  starts.look(id, 0, today).reached({ row: 7, dueAt: 1000 })
  const look = starts.look(id, 1, today)
  starts.forget([id, other])
  look.reached({ row: 8, dueAt: 2000 })
  t.strictSame(starts.look(id, 2, today).start, beginning)
})

t.test("given a minute since a claim from the beginning, then the next one looks back", async (t) => {
  const starts = new ClaimStarts()
  starts.look(id, 0, today).reached({ row: 7, dueAt: 1000 })
  starts.look(id, minute - 1, today).reached({ row: 8, dueAt: 1000 })
  t.strictSame(starts.look(id, minute - 1, today).start, { row: 8, dueAt: 1000 })
  t.strictSame(starts.look(id, minute, today).start, beginning)
  starts.look(id, minute, today).reached({ row: 9, dueAt: 1000 })
  t.strictSame(starts.look(id, minute + 1, today).start, { row: 9, dueAt: 1000 })
})

t.test("given more campaigns than are remembered, then the one that looked back longest ago is forgotten", async (t) => {
  const starts = new ClaimStarts()
  const ids = Array.from({ length: 1001 }, (_, index) => CampaignId.make(index + 1))
  for (const one of ids) starts.look(one, 0, today).reached({ row: 7, dueAt: 0 })
  t.strictSame(starts.look(CampaignId.make(1001), 1, today).start, { row: 7, dueAt: 0 })
  t.strictSame(starts.look(CampaignId.make(2), 1, today).start, { row: 7, dueAt: 0 })
  t.strictSame(starts.look(CampaignId.make(1), 1, today).start, beginning)
})

t.test("given a wall clock that was set back behind what was claimed, then the next claim looks from the beginning", async (t) => {
  const starts = new ClaimStarts()
  starts.look(id, 0, today).reached({ row: 7, dueAt: today })
  t.strictSame(starts.look(id, 1, today).start, { row: 7, dueAt: today })
  t.strictSame(starts.look(id, 2, today - 1).start, beginning)
})

t.test("given a retry that fell due before the next claim, then its campaign is forgotten, and those that claim later", async (t) => {
  const starts = new ClaimStarts()
  starts.look(id, 0, today).reached({ row: 7, dueAt: 1000 })
  starts.look(other, 0, today).reached({ row: 9, dueAt: 2000 })
  starts.due(2001)
  t.equal(starts.look(other, 1, today).start.row, 9)
  starts.due(1500)
  t.strictSame([starts.look(id, 1, today).start.row, starts.look(other, 1, today).start.row], [7, 0])
})
