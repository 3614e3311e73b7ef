import { createHash } from "node:crypto"
import t from "tap"
import { bodyOf, openApi } from "./apiTest.ts"

const api = await openApi(t)
const { ask, askAsOther, filesThere } = api

const text = "Opening hours: nine to five."
const request = async (more: object = {}) =>
  bodyOf(await ask("POST", "/knowledge-base/upload-url", { filename: "Preise für 2026.txt", mime_type: "text/plain", ...more }))
const uploaded = async (more: object = {}) => {
  const { document_uuid, s3_key, upload_url } = await request(more)
  await fetch(String(upload_url), { method: "PUT", body: text, headers: { "content-type": "text/plain" } })
  return { document_uuid: String(document_uuid), s3_key: String(s3_key) }
}
const create = async (more: object = {}) => bodyOf(await ask("POST", "/knowledge-base/process-document", await uploaded(more)))

t.test("given no document, when they are listed, then the list is empty and well-formed", async (t) => {
  t.strictSame((await ask("GET", "/knowledge-base/documents")).json, { documents: [], total: 0, limit: 100, offset: 0 })
})

t.test("given an uploaded file", async (t) => {
  const file = await uploaded({ custom_metadata: { source: "sales" } })

  t.test("when it does not exist, then no document is created from it", async (t) => {
    const missing = { status: 404, json: { detail: "Uploaded file not found" } }
    const { document_uuid, s3_key } = await request()
    t.match(await ask("POST", "/knowledge-base/process-document", { document_uuid, s3_key }), missing)
    t.match(await ask("POST", "/knowledge-base/process-document", { document_uuid: file.document_uuid, s3_key }), missing)
    t.match(await ask("POST", "/knowledge-base/process-document", { document_uuid: "x", s3_key: "../../etc/passwd" }), missing)
  })

  t.test("when a document is created from it, then it is complete, and as it was sent", async (t) => {
    const document = bodyOf(await ask("POST", "/knowledge-base/process-document", file))
    t.match(document, {
      document_uuid: file.document_uuid,
      filename: "Preise für 2026.txt",
      file_size_bytes: Buffer.byteLength(text),
      file_hash: createHash("sha256").update(text).digest("hex"),
      mime_type: "text/plain",
      processing_status: "completed",
      processing_error: null,
      total_chunks: 1,
      retrieval_mode: "full_document",
      custom_metadata: { source: "sales" },
      organization_id: api.organizationId,
      is_active: true
    })
    t.strictSame((await ask("GET", `/knowledge-base/documents/${file.document_uuid}`)).json, document)
    t.equal((await ask("POST", "/knowledge-base/process-document", file)).status, 404, "then the upload cannot be used again")
    const { url } = bodyOf(await ask("GET", `/s3/signed-url?key=${encodeURIComponent(file.s3_key)}`))
    t.equal(await (await fetch(String(url))).text(), text)
  })
})

t.test("given documents", async (t) => {
  const first = await create()
  const second = await create()
  const page = async (query: string) => {
    const { documents, ...rest } = bodyOf(await ask("GET", `/knowledge-base/documents${query}`))
    return { ids: (documents as unknown as ReadonlyArray<{ readonly id: number }>).map(({ id }) => id), ...rest }
  }

  t.test("when they are listed, then newest first, by page and status", async (t) => {
    t.strictSame(await page("?limit=2"), { ids: [second.id, first.id], total: 2, limit: 2, offset: 0 })
    t.strictSame(await page("?limit=1&offset=1"), { ids: [first.id], total: 1, limit: 1, offset: 1 })
    t.match(await page("?status=completed&limit=1"), { ids: [second.id] })
    t.match(await page("?status=failed"), { ids: [], total: 0 })
    for (const query of ["?limit=0", "?limit=101", "?offset=-1", "?offset=9999999999", "?status=odd"]) {
      t.equal((await ask("GET", `/knowledge-base/documents${query}`)).status, 422)
    }
    t.match((await askAsOther("GET", "/knowledge-base/documents")).json, { documents: [] })
  })

  t.test("when one is deleted, then it and its file are gone", async (t) => {
    const uuid = String(first["document_uuid"])
    t.ok(filesThere().some((path) => path.includes(uuid)))
    t.strictSame((await ask("DELETE", `/knowledge-base/documents/${uuid}`)).json, {
      success: true,
      message: "Document deleted successfully"
    })
    t.notOk(filesThere().some((path) => path.includes(uuid)))
    for (const method of ["GET", "DELETE"]) {
      for (const gone of [uuid, "no-uuid"])
        t.match(await ask(method, `/knowledge-base/documents/${gone}`), { status: 404, json: { detail: "Document not found" } })
    }
  })
})
