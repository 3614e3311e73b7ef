/** What calls leave behind: kept for as long as the organization says, and deleted at once when an admin says so. */
import { Effect, Layer } from "effect"
import t from "tap"
import { Config } from "#runtime/config/config.ts"
import { keepHouse } from "#runtime/Housekeeping.ts"
import { Files } from "#runtime/storage/Files.ts"
import { bodyOf, openApi } from "#test/gateway/apiTest.ts"

const api = await openApi(t)
const { ask, database, filesThere, sql, writeFile } = api

interface GivenRun {
  readonly id: number
  readonly agentId: number
}
/** A call that many days ago, with its files. */
const call = async (daysAgo: number, is_completed = true): Promise<GivenRun> => {
  const { id: agentId } = await api.makeAgent()
  const logs = { realtime_feedback_events: [{ text: "said-in-the-call" }], telephony_status_callbacks: [1] }
  const id = await api.makeRun(agentId, {
    is_completed,
    logs: JSON.stringify(logs),
    created_at: new Date(Date.now() - daysAgo * 86_400_000)
  })
  await sql`UPDATE runs SET recording_key = ${`recordings/${id}.wav`}, transcript_key = ${`transcripts/${id}.txt`} WHERE id = ${id}`
  await writeFile(`recordings/${id}.wav`, "sound")
  await writeFile(`transcripts/${id}.txt`, "said-in-the-call")
  return { id, agentId }
}
const stored = ({ id }: GivenRun) =>
  filesThere()
    .filter((name) => new RegExp(`/${id}\\.`).test(name))
    .sort()
const both = ({ id }: GivenRun) => [`recordings/${id}.wav`, `transcripts/${id}.txt`]
const shown = async ({ agentId, id }: GivenRun) => bodyOf(await ask("GET", `/workflow/${agentId}/runs/${id}`))
const settings = { concurrency_limit: 10, concurrency_reserve: 0 }
const set = (more: object) => ask("PUT", "/organizations/settings", { ...settings, ...more })
const house = () =>
  database.run(Effect.scoped(keepHouse.pipe(Effect.provide([Files.layerLocal(api.folder), Layer.orDie(Config.layerOf({}))]))))

t.test("given no setting, then calls keep their files forever", async (t) => {
  const run = await call(1000)
  t.match(await ask("GET", "/organizations/settings"), { json: { recordings_days: null, transcripts_days: null } })
  await house()
  t.strictSame(stored(run), both(run))
})

t.test("given an organization that keeps recordings for 30 days", async (t) => {
  const [old, young, up, later] = [await call(31), await call(29), await call(28, false), await call(27)]
  t.match(await set({ recordings_days: 30 }), { status: 200, json: { recordings_days: 30, transcripts_days: null } })
  t.match(await set({}), { json: { recordings_days: 30 } }, "what is left out stays as it is")
  await house()
  t.test("when it is over, then the recording is gone, and the record says so; everything else stays", async (t) => {
    t.strictSame(stored(old), [`transcripts/${old.id}.txt`])
    t.match(await shown(old), { recording_url: null, transcript_url: String, recording_public_url: null })
    t.strictSame(stored(young), both(young))
  })
  t.test("when it is shortened, then what is older goes, but nothing of or after a call that is up", async (t) => {
    await set({ recordings_days: 1 })
    await house()
    t.strictSame(stored(young), [`transcripts/${young.id}.txt`])
    t.strictSame([stored(up), stored(later)], [both(up), both(later)])
    await sql`UPDATE runs SET is_completed = true WHERE id = ${up.id}`
    await house()
    t.strictSame(
      [stored(up), stored(later)],
      [up, later].map(({ id }) => [`transcripts/${id}.txt`])
    )
  })
  t.test("when transcripts are limited too, then what was said is gone from the record as well", async (t) => {
    t.match(await set({ transcripts_days: 30, recordings_days: null }), { json: { recordings_days: null, transcripts_days: 30 } })
    await house()
    t.strictSame([stored(old), stored(young)], [[], [`transcripts/${young.id}.txt`]])
    const { logs, transcript_url } = await shown(old)
    t.strictSame([logs, transcript_url], [{ realtime_feedback_events: [], telephony_status_callbacks: [1] }, null])
  })
  t.test("when a number of days makes no sense, then it is refused", async (t) => {
    for (const recordings_days of [0, -1, 1.5, 36_501]) t.equal((await set({ recordings_days })).status, 422)
  })
})

t.test("given a single call", async (t) => {
  const run = await call(0)
  const path = `/workflow/${run.agentId}/runs/${run.id}/artifacts`
  t.test("when another organization tries to delete its files, then there is no such call", async (t) => {
    t.equal((await api.askAsOther("DELETE", path)).status, 404)
    t.strictSame(stored(run), both(run))
  })
  t.test("when it is up, then its files stay until it is over", async (t) => {
    const live = await call(0, false)
    t.match(await ask("DELETE", `/workflow/${live.agentId}/runs/${live.id}/artifacts`), {
      status: 409,
      json: { detail: `Call ${live.id} is still in progress` }
    })
    t.strictSame(stored(live), both(live))
  })
  t.test("when an admin deletes its files, even repeatedly, then they are gone, and the audit log has it", async (t) => {
    t.equal((await ask("DELETE", path)).status, 200)
    t.equal((await ask("DELETE", path)).status, 200)
    t.strictSame(stored(run), [])
    t.match(await shown(run), { recording_url: null, transcript_url: null, transcript_public_url: null })
    t.match((await ask("GET", "/organizations/audit-log")).json, {
      entries: [{ action: "deleteRunArtifacts", resource_id: String(run.id) }]
    })
  })
})
