/** Contacts whose calls are up: their rows do not say so, but every reader sees it. */
import { Effect } from "effect"
import t from "tap"
import { Campaigns } from "#core/campaign/Campaigns.ts"
import { extensionsToCall } from "#core/campaign/CampaignStore.ts"
import type { ContactState } from "#core/contact/Contact.ts"
import type { CallId } from "#core/Id.ts"
import { installCounted } from "./blocksRead.ts"
import { numbersOf, type Running } from "./claims.ts"
import { column, ours } from "./services.ts"

const { blocksRead, claim, ended, newId, running, sql, store, test, undone } = await installCounted(t)

const everybody = { limit: 100, number: undefined, outcome: undefined, reached: undefined, stopReason: undefined }
const rowsAs = (campaign: Running, state?: ContactState, after?: number) =>
  Effect.map(
    Campaigns.use((_) => _.contacts(ours, campaign.id, { ...everybody, after, state })),
    (contacts) => contacts.map((contact) => [contact.rowNo, contact.state] as const)
  )
const stored = ({ id }: Running) =>
  Effect.map(sql<{ readonly state: string }>`SELECT state FROM contacts WHERE campaign_id = ${id} ORDER BY row_no`, (rows) =>
    rows.map(({ state }) => state)
  )
const answered = (callIds: ReadonlyArray<CallId>) =>
  store.answered(callIds.map((callId) => ({ callId, answeredAt: Date.now(), endpoint: undefined })))
const giveBack = Effect.flatMap(store.live, (left) =>
  Effect.forEach(left, ({ callId, state }) => Effect.asVoid<unknown, never, never>(state === "answered" ? ended(callId) : undone(callId)), {
    discard: true
  })
)
/** Records an answer as the engine of an earlier release does. */
const marked = ({ id }: Running, row: number) => sql`UPDATE contacts SET state = 'in_call' WHERE campaign_id = ${id} AND row_no = ${row}`

test(t, "given four contacts, when two of three calls are answered", function* (t) {
  const campaign = yield* running(numbersOf(4, "+1301"))
  const [first, second, third] = [newId(), newId(), newId()]
  yield* claim(campaign, [first, second, third])
  yield* answered([first, third])
  const whileUp = {
    all: yield* rowsAs(campaign),
    behind: yield* rowsAs(campaign, "in_call", 2),
    dialing: yield* rowsAs(campaign, "dialing"),
    inCall: yield* rowsAs(campaign, "in_call"),
    pending: yield* rowsAs(campaign, "pending"),
    stored: yield* stored(campaign)
  }
  yield* giveBack
  const seen = { ...whileUp, inCallAfter: yield* rowsAs(campaign, "in_call"), storedAfter: yield* stored(campaign) }
  t.strictSame(
    seen.all,
    [
      [2, "in_call"],
      [3, "dialing"],
      [4, "in_call"],
      [5, "pending"]
    ],
    "then lists show which calls are up"
  )
  t.strictSame(
    seen.inCall,
    [
      [2, "in_call"],
      [4, "in_call"]
    ],
    "then they can be filtered by it"
  )
  t.strictSame(seen.behind, [[4, "in_call"]], "then they are found page by page")
  t.strictSame(seen.dialing, [[3, "dialing"]], "then they are not found among those that are being dialed")
  t.strictSame(seen.pending, [[5, "pending"]])
  t.strictSame(seen.stored, ["dialing", "dialing", "dialing", "pending"], "then no row of a contact was written for it")
  t.strictSame(seen.storedAfter, ["completed", "pending", "completed", "pending"], "then their ends are recorded")
  t.strictSame(seen.inCallAfter, [])
})

test(t, "given a contact whose row says that its call is up, as an earlier release writes it", function* (t) {
  const campaign = yield* running(numbersOf(2, "+1302"))
  const [first, second] = [newId(), newId()]
  yield* claim(campaign, [first, second])
  yield* answered([first])
  yield* marked(campaign, 2)
  const whileUp = {
    all: yield* rowsAs(campaign),
    dialing: yield* rowsAs(campaign, "dialing"),
    inCall: yield* rowsAs(campaign, "in_call")
  }
  yield* giveBack
  const seen = { ...whileUp, storedAfter: yield* stored(campaign) }
  t.strictSame(seen.all, [
    [2, "in_call"],
    [3, "dialing"]
  ])
  t.strictSame(seen.inCall, [[2, "in_call"]])
  t.strictSame(seen.dialing, [[3, "dialing"]])
  t.strictSame(seen.storedAfter, ["completed", "pending"], "then its end is recorded")
})

test(t, "given contacts at extensions, when the call of one is up, then that one is not among those still to be called", function* (t) {
  const campaign = yield* running(numbersOf(3, "+1303"))
  yield* sql`UPDATE contacts SET phone_number = '1' || row_no WHERE campaign_id = ${campaign.id}`
  const [first, second] = [newId(), newId()]
  yield* claim(campaign, [first, second])
  yield* answered([first])
  const left = yield* extensionsToCall(sql, ours, campaign.id)
  yield* giveBack
  t.strictSame(column(left, "rowNo"), [3, 4])
})

test(t, "given a campaign of thousands of contacts, when those in a call are listed, then it does not read through them", function* (t) {
  const campaign = yield* running(numbersOf(20_000, "+1304"))
  yield* sql`VACUUM ANALYZE`.unprepared
  const callId = newId()
  yield* claim(campaign, [callId])
  yield* answered([callId])
  const both = Effect.andThen(rowsAs(campaign, "in_call"), rowsAs(campaign, "dialing"))
  const { heap, index } = yield* blocksRead(["attempts", "contacts"], both)
  yield* giveBack
  const blocks = heap + index
  t.ok(blocks < 100, `${blocks} blocks`)
})
