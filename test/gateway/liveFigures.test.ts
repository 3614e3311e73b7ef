/** Figures that are pushed beside the events: what they are, to whom, and that a slow client gets the newest. */
import { Layer } from "effect"
import t, { type Test } from "tap"
import { until } from "#test/support/engine.ts"
import { openApi } from "./apiTest.ts"
import { followersOf, told } from "./followers.ts"

// A client that does not read is cut off after this time. On a busy machine, these tests take longer than the usual half minute.
const limits = { answerMillis: 600_000 }
const api = await openApi(t, Layer.empty, { limits })
const { ask, askAsOther, makeCampaign, sql } = api
const { stream } = followersOf(api, "dgr_ours_0000000000")

type Follower = ReturnType<typeof stream>
const follow = (t: Test, key = "dgr_ours_0000000000") => stream(t, "?figures=true", { "x-api-key": key })
const newest = ({ figures }: Follower, name: string) => figures.findLast((figure) => figure.name === name)?.data
const shown = (follower: Follower, name: string, isIt: (data: Readonly<Record<string, unknown>>) => boolean) =>
  until(`${name} as expected`, () => {
    const data = newest(follower, name)
    return data !== undefined && isIt(data) ? data : undefined
  })
/** So many of its contacts have been reached. */
const reached = async (campaign: number, count: number, filler = 0) => {
  await sql`UPDATE campaigns SET completed_rows = ${count} WHERE id = ${campaign}`
  await sql`
    SELECT add_event(${api.organizationId}::int, 'run.completed', 'runs/1', jsonb_build_object('filler', repeat('x', ${filler}::int)))`
}

t.test("given a page that follows events with their figures", async (t) => {
  const page = follow(t)
  const first = await shown(page, "quotas", () => true)
  t.match(first, { calls: { used: 0 }, followers: { used: 1 } }, "then it is told the quotas at once")
  const { id } = await makeCampaign()

  t.test("when a campaign is started and calls end, then it is told of its progress each time", async (t) => {
    t.equal(newest(page, "progress"), undefined, "and not of a draft's")
    await sql`UPDATE campaigns SET state = 'running' WHERE id = ${id}`
    t.match(await shown(page, "progress", () => true), { campaign_id: id, state: "running", completed: 0, total: 2 })
    await reached(id, 1)
    const progress = await shown(page, "progress", ({ completed }) => completed === 1)
    t.strictSame(progress, (await ask("GET", `/campaign/${id}/progress`)).json, "as the API tells it")
    t.strictSame(newest(page, "quotas"), (await ask("GET", "/organizations/quotas")).json)
    const before = page.figures.length
    await reached(id, 1)
    await reached(id, 2)
    await shown(page, "progress", ({ completed }) => completed === 2)
    t.equal(page.figures.length, before + 1, "and only of what has changed")
  })

  t.test("when another page opens, then it is told all of it, and another organization's only its own", async (t) => {
    const [late, others] = [follow(t), follow(t, "dgr_other_000000000")]
    t.match(await shown(late, "progress", () => true), { campaign_id: id, completed: 2 })
    t.strictSame(await shown(others, "quotas", () => true), (await askAsOther("GET", "/organizations/quotas")).json)
    await reached(id, 1)
    await shown(late, "progress", ({ completed }) => completed === 1)
    t.strictSame([...new Set(others.figures.map(({ name }) => name))], ["quotas"])
  })

  t.test("when it has read nothing for a while, then it is told every event, and the newest figures", async (t) => {
    const slow = follow(t)
    await shown(slow, "progress", () => true)
    slow.pause(true)
    const before = page.messages.length
    const total = 400
    for (let count = 0; count < total; count++) await reached(id, count % 2, 20_000)
    await told(page, before + total)
    slow.pause(false)
    await told(slow, total)
    await reached(id, 2)
    t.match(await shown(slow, "progress", ({ completed }) => completed === 2), { campaign_id: id })
  })
})
