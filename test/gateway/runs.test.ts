import t from "tap"
import { runOfToken, runToken } from "#gateway/file/runToken.ts"
import { RunId } from "#core/Id.ts"
import { bodyOf, openApi } from "./apiTest.ts"

const { ask, askAsOther, makeAgent, makeRun, port, sql, writeFile } = await openApi(t)

const withFiles = async (agent: number) => {
  const id = await makeRun(agent)
  await sql`UPDATE runs SET transcript_key = 'transcripts/' || id || '.txt', recording_key = 'recordings/' || id || '.wav' WHERE id = ${id}`
  await writeFile(`transcripts/${id}.txt`, "[0] user: hello\n")
  return id
}

/** What a voice without a price was used for. */
const spoken = {
  kind: "tts",
  provider: "acme",
  model: "ada",
  unit: "characters",
  quantity: 12,
  price_usd: null,
  price_per: 1_000_000,
  cost_usd: null
}

t.test("given an agent with runs", async (t) => {
  const agent = await makeAgent()
  const plain = await makeRun(agent.id)
  const done = await makeRun(agent.id, {
    is_completed: true,
    usage_info: JSON.stringify({ llm: {}, tts: { "flite#0|||slt": 12 }, stt: {}, call_duration_seconds: 12.6 }),
    cost_info: JSON.stringify({ total_cost_usd: 0.1234, is_complete: false, services: [spoken] }),
    gathered_context: JSON.stringify({ mapped_call_disposition: "user_hangup" })
  })
  const list = (query: string) => ask("GET", `/workflow/${agent.id}/runs${query}`)

  t.test("when they are listed, then newest first, in pages, with the applied filters", async (t) => {
    t.match(await list(""), {
      status: 200,
      json: { runs: [{ id: done }, { id: plain }], total_count: 2, page: 1, limit: 50, total_pages: 1, applied_filters: null }
    })
    t.match(await list("?page=2&limit=1"), { json: { runs: [{ id: plain }], total_count: 2, total_pages: 2 } })
    const filters = [{ attribute: "status", type: "radio", value: { status: "completed" }, more: 1 }]
    const filtered = await list(`?filters=${encodeURIComponent(JSON.stringify(filters))}`)
    t.match(filtered, { json: { runs: [{ id: done }], total_count: 1 } })
    t.strictSame(bodyOf(filtered)["applied_filters"], filters)
    t.match(await ask("GET", `/workflow/fetch/${agent.id}`), { json: { total_runs: 2 } })
  })

  t.test("when the query is invalid, then the answer says why", async (t) => {
    const detail = async (filters: unknown) => {
      const { json, status } = await list(`?filters=${encodeURIComponent(JSON.stringify(filters))}`)
      return [status, bodyOf({ json })["detail"]]
    }
    t.match(await list("?filters=%5B"), { status: 400, json: { detail: "Invalid filter format" } })
    t.strictSame(await detail({}), [400, "Invalid filter format"])
    const wrongDate = [{ attribute: "dateRange", type: "dateRange", value: { from: "soon" } }]
    t.strictSame(await detail(wrongDate), [400, "Invalid filter format"])
    t.strictSame(await detail([{ attribute: "runId", type: "number", value: { value: 1 } }]), [403, "Invalid attribute 'runId'"])
    t.strictSame(await detail([{ attribute: "dispositionCode", type: "multiSelect", value: { codes: ["\0"] } }]), [
      400,
      "Invalid filter format"
    ])
    t.equal((await list("?page=0")).status, 422)
    t.equal((await list("?limit=101")).status, 422)
    t.match(await list("?page=100000000&limit=100"), { status: 200, json: { runs: [] } })
  })

  t.test("when somebody else requests them, or the agent does not exist, then the list is empty", async (t) => {
    const empty = { runs: [], total_count: 0, total_pages: 0 }
    t.match(await askAsOther("GET", `/workflow/${agent.id}/runs`), { status: 200, json: empty })
    t.match(await ask("GET", "/workflow/999999/runs"), { status: 200, json: empty })
  })

  t.test("when one is read, then it has what is known, and null for what is not", async (t) => {
    t.match(await ask("GET", `/workflow/${agent.id}/runs/${plain}`), {
      json: { is_completed: false, usage_info: null, cost_info: null, public_access_token: null, transcript_public_url: null }
    })
    const { json } = await ask("GET", `/workflow/${agent.id}/runs/${done}`)
    t.strictSame(bodyOf({ json })["usage_info"], { llm: {}, tts: { "flite#0|||slt": 12 }, stt: {}, call_duration_seconds: 12.6 })
    const total = { dograh_token_usage: 12.34, call_duration_seconds: 13, total_cost_usd: 0.1234 }
    t.strictSame(bodyOf({ json })["cost_info"], { ...total, is_complete: false, services: [spoken] })
    const unused = await makeRun(agent.id, {
      is_completed: true,
      usage_info: JSON.stringify({ llm: {}, tts: {}, stt: {}, call_duration_seconds: 0 })
    })
    const nothing = { dograh_token_usage: 0, call_duration_seconds: 0, total_cost_usd: 0, is_complete: true, services: [] }
    t.strictSame(bodyOf(await ask("GET", `/workflow/${agent.id}/runs/${unused}`))["cost_info"], nothing, "nothing was used")
    const older = await makeRun(agent.id, {
      is_completed: true,
      usage_info: JSON.stringify({ tts: { "flite#0|||slt": 12 }, call_duration_seconds: 3 })
    })
    t.match(await ask("GET", `/workflow/${agent.id}/runs/${older}`), {
      json: { cost_info: { total_cost_usd: null, is_complete: null, services: [] } }
    })
    t.match(await ask("GET", `/workflow/${agent.id}/runs/999999`), { status: 404, json: { detail: "Workflow run not found" } })
  })
})

t.test("given a run with files", async (t) => {
  const agent = await makeAgent()
  const id = await withFiles(agent.id)
  const download = (token: unknown, rest: string) => ask("GET", `/public/download/workflow/${token}/${rest}`, undefined, { key: null })

  t.test("when it is read, then its public addresses lead to the files without a credential", async (t) => {
    const run = bodyOf(await ask("GET", `/workflow/${agent.id}/runs/${id}`))
    const token = String(run["public_access_token"])
    t.match(token, /^[0-9a-f-]{36}$/)
    const site = `http://127.0.0.1:${port}/api/v1/public/download/workflow/${token}`
    t.match(run, { transcript_public_url: `${site}/transcript`, recording_public_url: `${site}/recording` })
    t.strictSame(bodyOf(await ask("GET", `/workflow/${agent.id}/runs`))["runs"], [run], "a list shows the same")

    const answer = await download(token, "transcript?inline=true")
    t.match(answer, { status: 302, text: "Found" })
    const file = await fetch(String(answer.headers["location"]))
    t.strictSame([file.status, await file.text()], [200, "[0] user: hello\n"])
    t.equal(file.headers.get("content-disposition"), null)
    const saved = await fetch(String(run["transcript_public_url"]))
    t.equal(saved.headers.get("content-disposition"), `attachment; filename="${id}.txt"`)
  })

  t.test("when the token is invalid or the file missing, then the answer says which", async (t) => {
    const token = bodyOf(await ask("GET", `/workflow/${agent.id}/runs/${id}`))["public_access_token"]
    const other = String(token).replace(/.$/, (last: string) => (last === "0" ? "1" : "0"))
    t.match(await download(other, "transcript"), { status: 404, json: { detail: "Invalid or expired token" } })
    t.match(await download("x", "transcript"), { status: 404, json: { detail: "Invalid or expired token" } })
    t.match(await download(token, "video"), { status: 400, json: { detail: "Unsupported artifact type" } })
    t.match(await download(token, "user_recording"), {
      status: 404,
      json: { detail: "No user_recording available for this workflow run" }
    })
    await sql`DELETE FROM runs WHERE id = ${id}`
    t.match(await download(token, "transcript"), { status: 404, json: { detail: "Invalid or expired token" } })
  })
})

t.test("given the token of a run, when time passes, then it is valid for at least half a week and at most a week", async (t) => {
  const halfWeek = 302_400
  const made = 5919 * halfWeek
  const token = runToken("secret", RunId.make(7), made)
  t.match(token, /^00000007-171f-8[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/)
  t.equal(runToken("secret", RunId.make(7), made + halfWeek - 1), token)
  t.not(runToken("secret", RunId.make(7), made + halfWeek), token)
  t.equal(runOfToken("secret", token, made + 2 * halfWeek - 1), 7)
  t.equal(runOfToken("secret", token, made + 2 * halfWeek), undefined)
  t.equal(runOfToken("other", token, made), undefined)
  t.equal(runOfToken("secret", token.replace("00000007", "00000008"), made), undefined)
  t.equal(runOfToken("secret", token.toUpperCase(), made), undefined)
})
