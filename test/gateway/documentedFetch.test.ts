/** Stories check answers against the API's document: a server that answers what no engine may answer is detected. */
import t from "tap"
import { answeringServer } from "#test/support/answeringServer.ts"
import "#test/support/documentedFetch.ts"

interface Given {
  readonly status?: number
  readonly type?: string
  readonly body: string
  readonly headers?: Readonly<Record<string, string>>
}
let given: Given = { body: "" }
const { url } = await answeringServer(t, (response) => {
  response.writeHead(given.status ?? 200, { "content-type": given.type ?? "application/json", ...given.headers }).end(given.body)
})

const asked = (answer: Given, path = "/api/v1/workflow/count", method = "GET") => {
  given = answer
  return fetch(url + path, { method })
}
const counts = '{"total": 1, "active": 1, "archived": 0}'

t.test("given a documented answer, when it is fetched, then it is returned, unread", async (t) => {
  t.strictSame(await (await asked({ body: counts })).json(), { total: 1, active: 1, archived: 0 })
  t.equal((await asked({ status: 401, body: '{"detail": "Invalid or expired API key"}' })).status, 401)
  t.equal(await (await asked({ body: "a,b\n", type: "text/csv; charset=utf-8" }, "/api/v1/campaign/1/report")).text(), "a,b\n")
})

t.test("given one that is not documented, when it is fetched, then that fails", async (t) => {
  const fails = (what: RegExp, ...answer: Parameters<typeof asked>) => t.rejects(asked(...answer), { message: what })
  await fails(/does not document 418/, { status: 418, body: '{"detail": "x"}' })
  await fails(/required/, { body: '{"total": 1}' })
  await fails(/another shape|required/, { status: 401, body: '{"error": "x"}' })
  await fails(/does not document a Link/, { body: counts, headers: { link: '</>; rel="next"' } })
  await fails(/nobody takes it/, { body: "{}" }, "/api/v1/no/such/route")
})

t.test("given another server, then it may answer anything", async (t) => {
  t.equal((await asked({ status: 418, body: "x" }, "/hook")).status, 418)
})
