/** What clients of the existing product may ask for and this one does not have: each is refused as any unknown path is. */
import t from "tap"
import { openApi } from "./apiTest.ts"

const { ask } = await openApi(t)
const uuid = "00000000-0000-4000-8000-000000000001"

const absent: ReadonlyArray<readonly [method: string, path: string]> = [
  ["POST", "/workflow/1/text-chat/sessions"],
  ["GET", "/workflow/1/text-chat/sessions/2"],
  ["POST", "/workflow/1/text-chat/sessions/2/messages"],
  ["POST", "/workflow/1/text-chat/sessions/2/end"],
  ["POST", "/workflow/1/text-chat/sessions/2/rewind"],
  ["GET", "/workflow/1/embed-token"],
  ["POST", "/workflow/1/embed-token"],
  ["DELETE", "/workflow/1/embed-token"],
  ["POST", "/public/embed/init"],
  ["GET", "/public/embed/config/token"],
  ["GET", "/public/embed/turn-credentials/session"],
  ["POST", "/public/embed/chat/session"],
  ["POST", "/public/embed/chat/session/messages"],
  ["POST", "/public/embed/chat/session/end"],
  ["GET", "/turn/credentials"],
  ["GET", "/user/configurations/voices/elevenlabs"],
  ["GET", "/user/service-keys"],
  ["POST", "/user/service-keys"],
  ["DELETE", "/user/service-keys/1"],
  ["PUT", "/user/service-keys/1/reactivate"],
  ["POST", "/superuser/impersonate"],
  ["GET", "/superuser/workflow-runs"],
  ["POST", "/knowledge-base/search"],
  ["POST", "/organizations/usage/mps-credits/purchase-url"],
  ["GET", "/mcp"],
  ["POST", "/mcp"],
  ["POST", `/tools/${uuid}/test`],
  ["POST", `/tools/${uuid}/mcp/refresh`]
]

t.test("given a route of the existing product that is left out", async (t) => {
  for (const [method, path] of absent) {
    t.test(`when ${method} ${path} is asked for, then 404`, async (t) => {
      const answer = await ask(method, path, method === "POST" ? {} : undefined)
      t.strictSame([answer.status, answer.json], [404, { detail: "Not Found" }])
    })
  }

  // Its path is also that of a recording called `transcribe`, which can be changed and deleted, but not posted to.
  t.test("when POST /workflow-recordings/transcribe is asked for, then 405", async (t) => {
    const answer = await ask("POST", "/workflow-recordings/transcribe", {})
    t.strictSame([answer.status, answer.json, answer.headers["allow"]], [405, { detail: "Method Not Allowed" }, "DELETE, PATCH"])
  })
})
