import t from "tap"
import { bodyOf, csv, openApi } from "./apiTest.ts"

const api = await openApi(t)
const { ask, askAsOther, filesThere, makeAgent } = api

const sound = Buffer.from("RIFF not really a sound")
const put = (url: unknown, body: string | Buffer) => fetch(String(url), { method: "PUT", body, headers: { "content-type": "audio/wav" } })
const request = async (more: object = {}) =>
  bodyOf(await ask("POST", "/workflow-recordings/upload-url", { filename: "hello there.wav", ...more }))

const uploaded = async () => {
  const ticket = await request()
  await put(ticket["upload_url"], sound)
  return { recording_id: String(ticket["recording_id"]), storage_key: String(ticket["storage_key"]) }
}
const create = async (more: object = {}) =>
  bodyOf(await ask("POST", "/workflow-recordings/", { ...(await uploaded()), transcript: "Hello there.", ...more }))
const listed = async (query = "") => {
  const { recordings, total } = bodyOf(await ask("GET", `/workflow-recordings/${query}`))
  const ids = (recordings as unknown as ReadonlyArray<{ readonly id: number }>).map(({ id }) => id)
  return { ids, total }
}

t.test("given no recording, when they are listed, then the list is empty and well-formed", async (t) => {
  t.strictSame((await ask("GET", "/workflow-recordings/")).json, { recordings: [], total: 0 })
})

t.test("given an address to upload to", async (t) => {
  t.test("when the bytes have been sent, then they become a recording, once", async (t) => {
    const ticket = await request()
    t.match(ticket, { recording_id: /^r[0-9a-f]{8}$/, storage_key: /^recordings\/\d+\/r[0-9a-f]{8}\/hello_there\.wav$/, expires_in: 1800 })
    const answer = await put(ticket["upload_url"], sound)
    t.strictSame(await answer.json(), { file_key: ticket["storage_key"], file_size: sound.byteLength })

    const { id: workflow_id } = await makeAgent()
    const body = {
      recording_id: ticket["recording_id"],
      storage_key: ticket["storage_key"],
      transcript: "Hello there.",
      tts_provider: "elevenlabs",
      workflow_id,
      metadata: { original_filename: "hello there.wav" }
    }
    const made = await ask("POST", "/workflow-recordings/", body)
    t.match(made.json, {
      ...body,
      tts_model: null,
      storage_backend: "s3",
      organization_id: api.organizationId,
      is_active: true,
      created_by: 0
    })
    t.equal((await ask("POST", "/workflow-recordings/", body)).status, 404, "then the upload cannot be used again")
    t.equal((await put(ticket["upload_url"], sound)).status, 403, "then nothing more is accepted at its address")
  })

  t.test("when the bytes are missing, or belong to something else, then no recording is created from them", async (t) => {
    const { recording_id, storage_key } = await request()
    const missing = { status: 404, json: { detail: "Uploaded file not found" } }
    const body = { recording_id, storage_key, transcript: "x" }
    t.match(await ask("POST", "/workflow-recordings/", body), missing)
    const ours = await uploaded()
    t.match(await ask("POST", "/workflow-recordings/", { ...ours, recording_id: "another", transcript: "x" }), missing)
    const ofList = { ...ours, storage_key: await api.upload(csv), transcript: "x" }
    t.match(await ask("POST", "/workflow-recordings/", ofList), missing)
  })

  t.test("when it is requested with invalid values, then 422, or 404 for an agent that is not the organization's", async (t) => {
    const { id } = await makeAgent()
    t.match(await askAsOther("POST", "/workflow-recordings/upload-url", { filename: "a.wav", workflow_id: id }), {
      status: 404,
      json: { detail: "Workflow not found" }
    })
    t.equal((await ask("POST", "/workflow-recordings/upload-url", {})).status, 422)
    t.equal((await ask("POST", "/workflow-recordings/upload-url", { filename: "a.wav", file_size: 10_485_761 })).status, 422)
    const hidden = await request({ filename: "../../.profile" })
    t.match(hidden["storage_key"], /\/_\.\._\.\._\.profile$|\/_+[._]*profile$/)
  })
})

t.test("given recordings", async (t) => {
  const agent = await makeAgent()
  const first = await create({ tts_provider: "openai", tts_model: "m1", tts_voice_id: "v1", workflow_id: agent.id })
  const second = await create({ tts_provider: "openai", tts_model: "m2" })

  t.test("when they are listed, then newest first, and filtered as requested", async (t) => {
    const all = await listed("?tts_provider=openai")
    t.strictSame(all, { ids: [second.id, first.id], total: 2 as never })
    t.strictSame((await listed("?tts_model=m1")).ids, [first.id])
    t.strictSame((await listed("?tts_voice_id=v1")).ids, [first.id])
    t.strictSame((await listed(`?workflow_id=${agent.id}`)).ids, [first.id])
    t.strictSame((await listed("?tts_provider=other")).ids, [])
    t.equal((await ask("GET", "/workflow-recordings/?workflow_id=x")).status, 422)
    t.strictSame((await askAsOther("GET", "/workflow-recordings/")).json, { recordings: [], total: 0 })
  })

  t.test("when one is changed, by its id or its name, then omitted fields stay", async (t) => {
    const renamed = await ask("PATCH", `/workflow-recordings/${first.id}`, { recording_id: "greeting-1", transcript: "Hi." })
    t.match(renamed.json, {
      id: first.id,
      recording_id: "greeting-1",
      transcript: "Hi.",
      tts_model: "m1",
      storage_key: first["storage_key"]
    })
    t.match((await ask("PATCH", "/workflow-recordings/greeting-1", { tts_model: "m3" })).json, {
      id: first.id,
      tts_model: "m3",
      transcript: "Hi."
    })
    t.match(await ask("PATCH", `/workflow-recordings/${second.id}`, { recording_id: "greeting-1" }), {
      status: 409,
      json: { detail: "A recording with the ID 'greeting-1' already exists" }
    })
    const { recording_id: next, ...file } = await uploaded()
    await ask("PATCH", `/workflow-recordings/${second.id}`, { recording_id: next })
    t.equal((await ask("POST", "/workflow-recordings/", { ...file, recording_id: next, transcript: "x" })).status, 409)
    for (const recording_id of ["12345", "with space", "", "x".repeat(65)]) {
      t.equal((await ask("PATCH", `/workflow-recordings/${second.id}`, { recording_id })).status, 422)
    }
  })

  t.test("when one belongs to somebody else, by its number, or does not exist, then 404", async (t) => {
    for (const name of [String(first.id), "99999999999", "no such", "2147483647"])
      t.match(await askAsOther("DELETE", `/workflow-recordings/${encodeURIComponent(name)}`), {
        status: 404,
        json: { detail: "Recording not found" }
      })
  })

  t.test("when its file is requested, then its bytes come from a signed address", async (t) => {
    const query = `/s3/signed-url?${new URLSearchParams({ key: String(first["storage_key"]), storage_backend: String(first["storage_backend"]) })}`
    const { url } = bodyOf(await ask("GET", query))
    const file = await fetch(String(url))
    t.equal(file.headers.get("content-type"), "audio/wav")
    t.equal(await file.text(), sound.toString())
  })

  t.test("when one is deleted, then it and its file are gone", async (t) => {
    const file = String(first["storage_key"])
    t.ok(filesThere().some((path) => file.endsWith(path)))
    t.strictSame((await ask("DELETE", "/workflow-recordings/greeting-1")).json, {
      success: true,
      message: "Recording deleted successfully"
    })
    t.notOk(filesThere().some((path) => file.endsWith(path)))
    t.equal((await ask("DELETE", `/workflow-recordings/${first.id}`)).status, 404)
  })
})

t.test("given several files", async (t) => {
  const several = {
    files: [
      { filename: "one.wav", mime_type: "audio/wav", file_size: 23 },
      { filename: "two.mp3", file_size: 23 }
    ]
  }
  const answer = await ask("POST", "/workflow-recordings/upload-url", several)
  // The cast holds because every answer is checked against its schema.
  const { items } = answer.json as { readonly items: ReadonlyArray<Readonly<Record<string, string>>> }
  t.match(items, [{ storage_key: /one\.wav$/ }, { storage_key: /two\.mp3$/ }], "then each has an address, in their order")
  for (const item of items) t.equal((await put(item["upload_url"], sound)).status, 200)
  const recordings = items.map(({ recording_id, storage_key }) => ({ recording_id, storage_key, transcript: "Hello." }))

  await t.test("when one of them cannot be created, then none is", async (t) => {
    const [first, second] = recordings
    const body = { recordings: [first, { ...second, storage_key: "recordings/1/nothing.wav" }] }
    t.equal((await ask("POST", "/workflow-recordings/", body)).status, 404)
  })
  await t.test("when all can be created, then they are", async (t) => {
    const made = await ask("POST", "/workflow-recordings/", { recordings })
    t.match(made, { status: 200, json: { recordings: recordings.map((one) => ({ ...one, is_active: true })) } })
  })
  await t.test("when the request is invalid, then 422 says where", async (t) => {
    t.match(await ask("POST", "/workflow-recordings/upload-url", { files: [{}] }), {
      status: 422,
      json: { detail: [{ type: "missing", loc: ["body", "files", 0, "filename"] }] }
    })
    t.match(await ask("POST", "/workflow-recordings/upload-url", { files: [] }), { status: 422 })
    t.match(await ask("POST", "/workflow-recordings/", { recordings: [{}] }), {
      status: 422,
      json: { detail: [{ loc: ["body", "recordings", 0, "recording_id"] }, {}, {}] }
    })
  })
})
