/** Addresses that work for whoever has them: how long upload addresses and links to stored files are valid. */
import { connect } from "node:net"
import t from "tap"
import { bodyOf, csv, openApi } from "#test/gateway/apiTest.ts"
import { untilTrue } from "#test/support/until.ts"

const api = await openApi(t)
const { ask, port } = api
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
