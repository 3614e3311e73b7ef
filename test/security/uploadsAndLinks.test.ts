/** Addresses that work for whoever has them: how long upload addresses and links to stored files are valid. */
import { connect } from "node:net"
import t from "tap"
import { bodyOf, csv, openApi } from "#test/gateway/apiTest.ts"
import { until, untilTrue } from "#test/support/until.ts"

const api = await openApi(t)
const { ask, port, sql } = api
const uploadOf = async (path: string, json: object) => bodyOf(await ask("POST", path, json))
const list = () => uploadOf("/s3/presigned-upload-url", { file_name: "l.csv", file_size: csv.length })
const recording = () => uploadOf("/workflow-recordings/upload-url", { filename: "a.wav" })
const document = () => uploadOf("/knowledge-base/upload-url", { filename: "a.txt", mime_type: "text/plain" })
const put = async (url: unknown, body: string) => {
  const response = await fetch(String(url), { method: "PUT", body, headers: { "content-type": "text/csv" } })
  return [response.status, await response.json()]
}
const late = [409, { detail: "Different bytes have already been uploaded to this URL" }]

for (const [what, request] of Object.entries({ list, recording, document })) {
  t.test(`given a ${what} that was uploaded`, async (t) => {
    const { upload_url } = await request()
    const first = await put(upload_url, csv)
    t.equal(first[0], 200)
    t.test("when the answer was lost and the same bytes come again, then the answer is the same", async (t) => {
      t.strictSame(await put(upload_url, csv), first)
    })
    t.test("when the address is altered, or the bytes are too many, then they are refused, and nothing of them is left", async (t) => {
      const url = String((await request())["upload_url"])
      const before = api.filesThere().length
      for (const [part, other] of [
        [/uploads\/..../, "uploads/AAAA"],
        [/key=.*/, "key=campaigns%2F1%2F..%2F..%2Fetc"],
        [/(resource-)?uploads/, url.includes("/resource-") ? "uploads" : "resource-uploads"]
      ] as const)
        t.strictSame(await put(url.replace(part, other), csv), [403, { detail: "Invalid or expired upload URL" }])
      if (request !== document) t.equal((await put(url, "x".repeat(10_485_761)))[0], 413)
      t.equal(api.filesThere().length, before)
    })
    t.test("when other bytes come, then they are refused, and the first ones stay", async (t) => {
      t.strictSame(await put(upload_url, csv.replace("Ada", "Eve")), late)
      t.strictSame(await put(upload_url, ""), late)
      t.strictSame(await put(upload_url, csv), first)
      t.notOk(api.filesThere().some((name) => name.endsWith(".part")))
    })
  })
}

t.test("given one address, when different bytes are uploaded to it at once, then one upload counts", async (t) => {
  const { upload_url } = await list()
  const bodies = Array.from({ length: 8 }, (_, at) => `phone_number\n+155501000${10 + at}\n`)
  const answers = await Promise.all(bodies.map((body) => put(upload_url, body)))
  t.strictSame(answers.map(([status]) => status).sort(), [200, 409, 409, 409, 409, 409, 409, 409])
  const winner = bodies[answers.findIndex(([status]) => status === 200)] ?? ""
  t.equal((await put(upload_url, winner))[0], 200, "and its bytes are those that were kept")
})

t.test("given an upload that was cut off, when it is sent again, then it is accepted", async (t) => {
  const { upload_url } = await list()
  const { pathname, search } = new URL(String(upload_url))
  const socket = connect(port, "127.0.0.1")
  socket.write(`PUT ${pathname}${search} HTTP/1.1\r\nhost: localhost\r\ncontent-type: text/csv\r\ncontent-length: 1000\r\n\r\nphone_`)
  await untilTrue("draft of the upload", () => api.filesThere().some((name) => name.endsWith(".part")))
  socket.destroy()
  await untilTrue("end of the draft", () => !api.filesThere().some((name) => name.endsWith(".part")))
  t.equal((await put(upload_url, csv))[0], 200)
})

t.test("given a link to a file", async (t) => {
  const { file_key, upload_url } = await list()
  await put(upload_url, csv)
  /** A link made by a user, `u`, or by a key that no user made, `k`: the maker of a key is cached for a second. */
  const linkBy = (maker: "k" | "u") =>
    until(`link of ${maker}`, async () => {
      const { url } = bodyOf(await ask("GET", `/s3/signed-url?${new URLSearchParams({ key: String(file_key) })}`))
      return new RegExp(`by=\\d+\\.${maker}\\d+`).test(String(url)) ? String(url) : undefined
    })
  const statusOf = async (url: string) => (await fetch(url)).status
  await sql`
      WITH u AS (INSERT INTO users (email, password_hash) VALUES ('ada@example.com', 'x') RETURNING id),
      m AS (INSERT INTO memberships (organization_id, user_id, role) SELECT ${api.organizationId}::int, id, 'member' FROM u)
      UPDATE api_keys SET user_id = (SELECT id FROM u) WHERE organization_id = ${api.organizationId}`
  t.test("when its maker leaves the organization, then it no longer works", async (t) => {
    const url = await linkBy("u")
    t.equal(await statusOf(url), 200)
    t.equal(await statusOf(url.replace(/&by=[^&]*/, "")), 403, "nor does it work for nobody")
    await sql`DELETE FROM memberships WHERE user_id IN (SELECT id FROM users WHERE email = 'ada@example.com')`
    t.equal(await statusOf(url), 403)
  })
  t.test("when the key that made it is archived, then it no longer works", async (t) => {
    await sql`UPDATE api_keys SET user_id = NULL WHERE organization_id = ${api.organizationId}`
    const url = await linkBy("k")
    t.equal(await statusOf(url), 200)
    await sql`UPDATE api_keys SET archived_at = now() WHERE organization_id = ${api.organizationId}`
    t.equal(await statusOf(url), 403)
  })
})
