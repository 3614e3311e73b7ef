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

t.test("given no document", async (t) => {
  t.test("when they are listed, then the list is empty and well-formed", async (t) => {
    t.strictSame((await ask("GET", "/knowledge-base/documents")).json, { documents: [], total: 0, limit: 100, offset: 0 })
  })
})

t.test("given an uploaded file", async (t) => {
  const file = await uploaded({ custom_metadata: { source: "sales" } })

  t.test("when it belongs to another organization, or does not exist, then no document is created from it", async (t) => {
    const missing = { status: 404, json: { detail: "Uploaded file not found" } }
    t.match(await askAsOther("POST", "/knowledge-base/process-document", file), missing)
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
  })

  t.test("when its bytes are requested, then they come from a signed address, for the organization alone", async (t) => {
    const query = `/s3/signed-url?key=${encodeURIComponent(file.s3_key)}`
    t.equal(await (await fetch(String(bodyOf(await ask("GET", query))["url"]))).text(), text)
    t.equal((await askAsOther("GET", query)).status, 403)
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

  t.test("when one belongs to somebody else, or does not exist, then 404", async (t) => {
    for (const uuid of [String(first["document_uuid"]), "no-uuid"]) {
      for (const method of ["GET", "DELETE"]) {
        t.match(await askAsOther(method, `/knowledge-base/documents/${uuid}`), { status: 404, json: { detail: "Document not found" } })
      }
    }
  })

  t.test("when one is deleted, then it and its file are gone", async (t) => {
    const uuid = String(first["document_uuid"])
    t.ok(filesThere().some((path) => path.includes(uuid)))
    t.strictSame((await ask("DELETE", `/knowledge-base/documents/${uuid}`)).json, {
      success: true,
      message: "Document deleted successfully"
    })
    t.notOk(filesThere().some((path) => path.includes(uuid)))
    t.equal((await ask("GET", `/knowledge-base/documents/${uuid}`)).status, 404)
    t.equal((await ask("DELETE", `/knowledge-base/documents/${uuid}`)).status, 404)
  })
})
