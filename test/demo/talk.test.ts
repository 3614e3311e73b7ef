/** `npm run talk` as a person at a terminal uses it. */
import { writeFile } from "node:fs/promises"
import { join } from "node:path"
import t from "tap"
import { answeringServer } from "#test/support/answeringServer.ts"
import { definition } from "#test/support/talkScript.ts"
import { programOf } from "./runProgram.ts"

const { refuses, run: talk } = programOf("talk")

t.test("given a template and a name", async (t) => {
  const { shown, status } = await talk(["Appointment reminder", "--with", "first_name=Grace"], ["please stop calling me"])
  t.equal(status, 0)
  t.match(shown, /agent: Hello, this is the assistant of Acme\. Am I speaking with Grace\?/, "then the agent greets by that name")
  t.match(shown, /you: please stop calling me\n {2}the callee must not be called again/, "then an opt-out is accepted")
  t.match(shown, /disposition: user_disqualified\n/, "and the call ends with it")
})

t.test("given a definition in a file", async (t) => {
  const folder = t.testdir({})
  const file = join(folder, "agent.json")
  await writeFile(file, JSON.stringify({ name: "Mine", workflow_definition: definition({ greeting: "Do you agree?" }) }))
  const { shown, status } = await talk([file], ["yes"])
  t.equal(status, 0)
  t.match(shown, /agent: Do you agree\?\nyou: yes\n(?:.*\n)*? {2}node: ask\n/, "then it is followed along its edges")
  const silent = await talk([file], [])
  t.match(silent.shown, /you: \(hangs up\)\n(?:.*\n)*disposition: user_hangup\n/, "and a callee who says nothing hangs up")
})

t.test("given an agent with tools in its file, then they can be called", async (t) => {
  const folder = t.testdir({})
  const file = join(folder, "agent.json")
  const toolUuid = "00000000-0000-4000-8000-000000000001"
  const hangUp = { schema_version: 1, type: "end_call", config: { messageType: "custom", customMessage: "So long." } }
  const agent = {
    workflow_definition: definition({ greeting: "Hello.", tool_uuids: [toolUuid] }),
    tools: [{ tool_uuid: toolUuid, name: "Hang up", description: "Says goodbye.", definition: hangUp }]
  }
  await writeFile(file, JSON.stringify(agent))
  t.match((await talk([file], ["goodbye"])).shown, /calls hang_up \{.*\}\n(?:.*\n)*agent: So long\.\n(?:.*\n)*disposition: end_call_tool/)

  const { asked, url } = await answeringServer(t, (response) => void response.end('{"queued":true}'))
  const person = { schema_version: 1, type: "http_api", config: { method: "POST", url: `${url}/people/{{first_name}}` } }
  const tool = { tool_uuid: toolUuid, name: "Operator", description: "Asks for a human.", definition: person }
  await writeFile(file, JSON.stringify({ ...agent, tools: [tool] }))
  t.match(
    (await talk([file], ["I want to talk to a human."])).shown,
    /operator: \{"status":"success","status_code":200,"data":\{"queued":true\}\}/
  )
  const lines = asked.map(({ line }) => line)
  t.strictSame(lines, ["POST /people/Ada"], "the service is really called")
  await writeFile(file, JSON.stringify({ ...agent, tools: [{ name: "Hang up" }] }))
  t.match(await talk([file], []), { status: 1, errors: /^Tool 1 in .* lacks its tool_uuid, name or definition\n/ })
})

t.test("given unusable files or options", async (t) => {
  const folder = t.testdir({ "agent.json": "{", "empty.json": "{}" })
  await refuses(t, /^nothere is neither a file nor a template: Appointment reminder, /, "nothere")
  await refuses(t, /holds no agent/, join(folder, "agent.json"))
  await refuses(t, /has no node of the type startCall/, join(folder, "empty.json"))
  await refuses(t, /^--with needs name=value, not first_name\nUsage: npm run talk/, "--with", "first_name")
  await refuses(t, /--modle/, "--modle", "x")
})
