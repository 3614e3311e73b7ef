/**
 * What one organization, or one address, can take from everybody else: the database connections, and the time of whoever needs one next. A
 * list of contacts is read in a transaction, so eight lists at once kept all others waiting until they were done, and a statement could take
 * any length of time. Requests here are held up by a lock instead of by their size, so that nothing depends on the machine's speed.
 */
import { Layer } from "effect"
import t, { type Test } from "tap"
import { FairTurns } from "#core/load/FairTurns.ts"
import { HeavyLanes } from "#core/load/HeavyWork.ts"
import type { OrganizationId } from "#core/Id.ts"
import { StatementDeadlines } from "#runtime/postgres/ConnectionShares.ts"
import { witness } from "#test/support/postgres.ts"
import { untilTrue } from "#test/support/until.ts"
import { bodyOf, csv, graph, openApi, type TestApi } from "#test/gateway/apiTest.ts"
import { type Answer, behindProxy, raw } from "#test/gateway/gatewayTest.ts"
import { counts, times } from "./quotas.ts"

const atOnce = 16

/** Holds up whatever needs a row until it is released; `held` counts the statements that wait for it. */
const lockOf = async (t: Test, { database }: TestApi, table: string, column: string, value: string | number) => {
  const sql = witness(database.url)
  const held = async () => {
    const rows = await sql`SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`
    return rows.length
  }
  const [ended, locked] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  const lock = sql.begin(async (sql) => {
    await sql`SELECT 1 FROM ${sql(table)} WHERE ${sql(column)} = ${value} FOR UPDATE`
    locked.resolve()
    await ended.promise
  })
  await locked.promise
  const release = async () => {
    ended.resolve()
    await lock
  }
  t.teardown(async () => {
    await release()
    await sql.end()
  })
  return { held, release }
}

/** The answers so far to pending requests, in order. */
const answersTo = (requests: ReadonlyArray<Promise<Answer>>) => {
  const answered: Array<Answer> = []
  for (const request of requests) void request.then((answer) => answered.push(answer))
  return answered
}

const campaignOf = async (api: TestApi, name: string): Promise<() => Promise<Answer>> => {
  const { id: workflow_id } = await api.makeAgent()
  const source_id = await api.upload(csv)
  return () => api.ask("POST", "/campaign/create", { name, workflow_id, source_type: "csv", source_id })
}

t.test("given an organization that reads sixteen lists at once", async (t) => {
  const api = await openApi(t)
  const create = await campaignOf(api, "Flood")
  const { held, release } = await lockOf(t, api, "agents", "name", "Reminder")
  const imports = times(atOnce, create)
  const done = answersTo(imports)
  await untilTrue("import that is under way", async () => (await held()) > 0)

  t.equal((await api.askAsOther("GET", "/campaign/")).status, 200, "another one sees its campaigns while none of them is read")
  t.match(await api.others.makeCampaign(), { total_rows: 2 }, "and reads a list of its own")
  t.equal((await api.ask("GET", "/campaign/")).status, 200, "and so does the first one see its campaigns")
  t.strictSame(done, [], "none of the lists has been read yet")
  t.equal(await held(), 1, "and one of them is being read")

  await release()
  const made = counts(await Promise.all(imports))
  const kept = Object(bodyOf(await api.ask("GET", "/campaign/"))["campaigns"]).length
  t.ok(kept > 1, "then they are read one after another")
  // On a machine as busy as this one may be, the last ones may have waited too long.
  t.strictSame({ 200: kept, 503: atOnce - kept }, { 200: made[200], 503: made[503] ?? 0 }, "and each is there as a whole, or not at all")
})

t.test("given more imports than may wait, then the rest are told at once when to come back, and leave nothing behind", async (t) => {
  const lanes = new FairTurns<OrganizationId | undefined>({
    places: 1,
    placesEach: 1,
    waiting: 10,
    waitingEach: 2,
    patienceMillis: 60_000,
    retryAfterSeconds: 7
  })
  const api = await openApi(t, Layer.succeed(HeavyLanes, lanes))
  const create = await campaignOf(api, "Flood")
  const { release } = await lockOf(t, api, "agents", "name", "Reminder")
  const imports = times(atOnce, create)
  const done = answersTo(imports)
  await untilTrue("refusal of all that have no room", () => done.length === atOnce - 3)
  t.strictSame(counts(done), { 429: atOnce - 3 })
  t.equal(done[0]?.headers["retry-after"], "7")

  await release()
  t.equal(counts(await Promise.all(imports))[200], 3)
  t.equal(Object(bodyOf(await api.ask("GET", "/campaign/"))["campaigns"]).length, 3)
})

t.test("given more large graphs at once than may wait, then one is read, and the rest are told when to come back", async (t) => {
  const api = await openApi(t)
  const { held, release } = await lockOf(t, api, "organizations", "id", api.organizationId)
  const more = times(100, (index) => ({
    id: String(index + 2),
    type: "agentNode",
    position: { x: 0, y: 0 },
    data: { name: "Node", prompt: "x".repeat(700) }
  }))
  const body = { name: "Large", workflow_definition: { nodes: [...graph.nodes, ...more], edges: [] } }
  const ask = () => api.ask("POST", "/workflow/create/definition", body)
  const graphs: Array<Promise<Answer>> = []
  const done: Array<Answer> = []
  const refused = () => counts(done)[429] ?? 0
  /** Resolves when there is no room for any more. */
  const fill = async (count: number) => {
    const before = refused()
    const sent = times(count, ask)
    for (const answer of sent) void answer.then((it) => done.push(it))
    graphs.push(...sent)
    await untilTrue("refusal of one that has no room", () => refused() > before)
  }
  await fill(30)
  await untilTrue("answers to all that have no room", () => done.length >= 9)
  // On a slow machine one of those waiting may give up before the last one arrives.
  t.equal(refused() + (counts(done)[503] ?? 0), done.length)
  const head = `POST /api/v1/workflow/create/definition HTTP/1.1\r\nhost: 127.0.0.1\r\nx-api-key: dgr_ours_0000000000\r\n`
  // For the same reason this one may get the place of one that has given up: then all places are taken again.
  let refusal = ""
  while (refusal === "") {
    await fill(10)
    refusal = await raw(api, `${head}content-type: application/json\r\ncontent-length: 100000\r\n\r\n{`)
  }
  t.match(refusal, /^HTTP\/1.1 429 .*retry-after: \d/s, "before its body has come")
  t.ok((await held()) <= 1)
  t.equal((await api.askAsOther("GET", "/campaign/")).status, 200)
  t.equal((await api.ask("GET", "/campaign/")).status, 200)
  await release()
  t.ok((counts(await Promise.all(graphs))[200] ?? 0) > 1)
})

t.test("given an organization whose light requests all wait for a row, then another one still has connections", async (t) => {
  const api = await openApi(t)
  const { id } = await api.makeCampaign()
  const { held, release } = await lockOf(t, api, "campaigns", "id", id)
  const changes = times(atOnce, (index) => api.ask("PATCH", `/campaign/${id}`, { name: `Name ${index}` }))
  await untilTrue("statement for each connection that one may hold", async () => (await held()) === 6)
  t.equal((await api.askAsOther("GET", "/campaign/")).status, 200)
  await release()
  t.strictSame(counts(await Promise.all(changes)), { 200: atOnce })
})

t.test("given a statement that does not come to an end", async (t) => {
  const api = await openApi(t, Layer.succeed(StatementDeadlines, { lightMillis: 300, heavyMillis: 600 }))
  const { id } = await api.makeCampaign()
  const create = await campaignOf(api, "Heavy")

  await t.test("when it is light, then it is cut off, and the request is told when to come back", async (t) => {
    const { release } = await lockOf(t, api, "campaigns", "id", id)
    const answer = await api.ask("PATCH", `/campaign/${id}`, { name: "Never" })
    t.strictSame([answer.status, answer.headers["retry-after"]], [503, "5"])
    await release()
    t.equal(bodyOf(await api.ask("GET", `/campaign/${id}`))["name"], "Spring")
  })

  await t.test("when it is part of an import, then nothing is left of that", async (t) => {
    const { release } = await lockOf(t, api, "agents", "name", "Reminder")
    const answer = await create()
    t.strictSame([answer.status, answer.headers["retry-after"]], [503, "5"])
    await release()
    t.equal(Object(bodyOf(await api.ask("GET", "/campaign/"))["campaigns"]).length, 1)
    t.equal((await create()).status, 200)
  })
})

t.test("given an address whose uploads all wait for a row, then requests of others without an organization are answered", async (t) => {
  const api = await openApi(t, Layer.empty, behindProxy)
  const from = (address: string) => ({ "x-forwarded-for": address })
  const ticket = bodyOf(await api.ask("POST", "/s3/presigned-upload-url", { file_name: "list.csv", file_size: csv.length }))
  const { held, release } = await lockOf(t, api, "uploads", "key", String(ticket["file_key"]))
  const put = async () =>
    fetch(String(ticket["upload_url"]), { method: "PUT", body: csv, headers: { "content-type": "text/csv", ...from("127.0.0.1") } })
  const puts = times(20, put)
  await untilTrue("upload that waits", async () => (await held()) === 2)
  const stranger = await api.ask("GET", "/campaign/", undefined, { key: "dgr_nobody_has_this_key", headers: from("198.51.100.7") })
  t.equal(stranger.status, 401)
  t.equal((await api.askAsOther("GET", "/campaign/")).status, 200, "and so is a key, also where the uploads come from")
  await release()
  t.ok((await Promise.all(puts)).every(({ status }) => status === 200))
})

t.test("given a request without a key, then it is answered before its body arrives, which is discarded", async (t) => {
  const api = await openApi(t)
  const head =
    "POST /api/v1/workflow/create/definition HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 400000\r\n\r\n"
  const before = await raw(api, head)
  t.match(before, /^HTTP\/1.1 401 [\s\S]*Authorization header required/)
  const next = "GET /api/v1/health HTTP/1.1\r\nHost: localhost\r\n\r\n"
  const both = await raw(api, `${head}${" ".repeat(400_000)}${next}`)
  const statuses = [...both.matchAll(/HTTP\/1.1 (\d+)/g)].map(([, status]) => status)
  t.strictSame(statuses, ["401", "200"])
})
