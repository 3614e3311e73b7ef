/** Routes that clients of the existing product may request and that this one does not have: each is refused like any unknown path. */
import t from "tap"
import { openApi } from "./apiTest.ts"
import { fliteVoices } from "#runtime/voice/FliteWasm.ts"

const { ask, makeAgent } = await openApi(t)
const uuid = "00000000-0000-4000-8000-000000000001"

const absent: ReadonlyArray<readonly [method: string, path: string]> = [
  ["POST", "/public/embed/init"],
  ["GET", "/public/embed/config/token"],
  ["GET", "/public/embed/turn-credentials/session"],
  ["POST", "/public/embed/chat/session"],
  ["POST", "/public/embed/chat/session/messages"],
  ["POST", "/public/embed/chat/session/end"],
  ["DELETE", "/user/service-keys/1"],
  ["PUT", "/user/service-keys/1/reactivate"],
  ["POST", "/superuser/impersonate"],
  ["GET", "/superuser/workflow-runs"],
  ["POST", "/knowledge-base/search"],
  ["POST", "/organizations/usage/mps-credits/purchase-url"],
  ["GET", "/mcp"],
  ["POST", "/mcp"],
  ["POST", "/workflow/ambient-noise/upload-url"],
  ["POST", "/organizations/telephony-configs/1/reactivate"],
  ["GET", "/organizations/telephony-configs/1/trunks"],
  ["POST", "/organizations/telephony-configs/1/trunks"],
  ["GET", "/organizations/model-configurations/v2/migration-preview"],
  ["POST", "/organizations/model-configurations/v2/migrate"],
  ["GET", "/health/active-calls"],
  ["GET", "/health/autoscale-metric"],
  ["POST", "/workflow-recordings/transcribe"],
  ["POST", `/tools/${uuid}/test`],
  ["POST", `/tools/${uuid}/mcp/refresh`]
]

t.test("given a route of the existing product that does not exist here", async (t) => {
  for (const [method, path] of absent) {
    t.test(`when ${method} ${path} is requested, then 404`, async (t) => {
      const answer = await ask(method, path, method === "POST" ? {} : undefined)
      t.strictSame([answer.status, answer.json], [404, { detail: "Not Found" }])
    })
  }

  // The path is also that of a recording called `transcribe`.
  t.test("when a method other than POST is used on /workflow-recordings/transcribe, then it is an unknown recording", async (t) => {
    const other = await ask("GET", "/workflow-recordings/transcribe")
    t.strictSame([other.status, other.headers["allow"]], [405, "DELETE, PATCH"])
    t.equal((await ask("DELETE", "/workflow-recordings/transcribe")).status, 404)
  })
})

t.test("given the requests that the existing product's pages send whenever they are opened", async (t) => {
  const { id } = await makeAgent()
  const credits = { total_credits_used: 0, remaining_credits: 0, total_quota: 0, account: null, ledger_entries: [], total_count: 0 }
  const answers: ReadonlyArray<readonly [path: string, answer: unknown]> = [
    ["/organizations/billing/credits?page=2&limit=20", { ...credits, total_pages: 0, limit: 20, page: 2 }],
    ["/user/service-keys?include_archived=false", []],
    ["/organizations/langfuse-credentials", { configured: false }],
    [`/workflow/${id}/embed-token`, null],
    ["/user/configurations/voices/elevenlabs", { provider: "elevenlabs", voices: [], facets: null }],
    [
      "/user/configurations/voices/flite",
      { provider: "flite", voices: fliteVoices.map((name) => ({ voice_id: name, name })), facets: null }
    ]
  ]
  for (const [path, answer] of answers) {
    const { json, status } = await ask("GET", path)
    t.strictSame([status, json], [200, answer], `then ${path} is answered with what there is`)
  }
  for (const [method, path] of [
    ["POST", "/user/service-keys"],
    ["POST", "/organizations/langfuse-credentials"],
    ["DELETE", "/organizations/langfuse-credentials"],
    ["POST", `/workflow/${id}/embed-token`],
    ["DELETE", `/workflow/${id}/embed-token`]
  ] as const) {
    t.match(await ask(method, path, method === "POST" ? {} : undefined), { status: 405, json: { detail: "Method Not Allowed" } }, path)
  }
})
