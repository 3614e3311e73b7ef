/**
 * Events of all organizations take their ids from one sequence. By asking for what came after made-up ids, an organization could tell at any
 * moment how far the ids had come, and so how many calls and campaigns the others had: an id beyond them got a notice with the newest.
 */
import t from "tap"
import { openApi } from "#test/gateway/apiTest.ts"

const api = await openApi(t)

const happened = (organizationId: number, count: number) => api.sql<{ readonly id: number }>`
  INSERT INTO events (organization_id, type, subject, data, created_at)
  SELECT ${organizationId}::int, 'campaign.created', 'campaigns/1', '{}', now() FROM generate_series(1, ${count}::int) RETURNING id`
const other = api.otherId

await happened(other, 20)
const own = (await happened(api.organizationId, 3)).map(({ id }) => Number(id))
const newest = own.at(-1) ?? 0
const ask = async (after: number) => {
  const { json } = await api.ask("GET", `/events?after_id=${after}`)
  // A notice has the time of its answer.
  return JSON.stringify(json, (name, value) => (name === "time" ? undefined : value))
}
const cursors = [1, 10, newest - 5, newest, newest + 1, newest + 10, newest + 100, newest + 5000]

t.test("given cursors before and behind the newest event of one's own", async (t) => {
  const before = await Promise.all(cursors.map(ask))
  await happened(other, 1000)

  t.test("when others have events in between, then every answer is unchanged", async (t) => {
    t.strictSame(await Promise.all(cursors.map(ask)), before)
  })

  t.test("when one is beyond them, then the notice leads back to the newest of one's own", async (t) => {
    t.match(JSON.parse(await ask(newest + 500)), {
      events: [{ type: "events.gap", id: String(newest), data: { until_id: newest } }],
      next_after_id: newest
    })
  })
})

t.test("given an organization without any event, when it asks for what came after one, then it is told to start over", async (t) => {
  await api.sql`DELETE FROM events WHERE organization_id = ${api.organizationId}`
  t.match(JSON.parse(await ask(newest)), { events: [{ type: "events.gap", id: "0" }], next_after_id: 0 })
})
