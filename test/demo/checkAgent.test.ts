/** `npm run check-agent` as it is used before a release, by a person or in a pipeline. */
import { writeFile } from "node:fs/promises"
import { join } from "node:path"
import t from "tap"
import { OpenAiEmulator } from "#test/emulators/openai/OpenAiEmulator.ts"
import { definition } from "#test/support/talkScript.ts"
import { programOf } from "./runProgram.ts"

const { refuses, run: check } = programOf("checkAgent")

const folder = t.testdir({})
const agent = join(folder, "agent.json")
const written = async (name: string, content: unknown) => {
  const file = join(folder, name)
  await writeFile(file, JSON.stringify(content))
  return file
}
await written("agent.json", {
  workflow_definition: definition({ greeting: "Do you agree, {{first_name}}?" }),
  template_context_variables: { first_name: "Ada" }
})
const goesAlong = { name: "goes along", callee: [{ says: "yes" }], expect: { visits: ["ask"], says: ["Do you agree, Ada?"] } }

t.test("given callees who all reach the right node, then all pass", async (t) => {
  const scripts = await written("good.json", { scripts: [goesAlong, { ...goesAlong, name: "another" }] })
  t.match(await check([agent, scripts]), { status: 0, shown: "ok     goes along\nok     another\n\n2 of 2 passed\n", errors: "" })
  const { shown } = await check([agent, scripts, "--verbose"])
  t.match(shown, /at start\n +agent: Do you agree, Ada\?\n +callee: yes\n +at ask\n/)
})

t.test("given a callee who does not, then the reason and the conversation are shown, and the exit code is 1", async (t) => {
  const scripts = await written("bad.json", { scripts: [goesAlong, { ...goesAlong, name: "refuses", callee: [{ says: "no" }] }] })
  const { errors, shown, status } = await check([agent, scripts])
  t.strictSame([status, errors], [1, ""])
  t.match(
    shown,
    /^ok {5}goes along\nFAILED refuses\n +visits: 'ask' was never entered\n +at start\n.*\n +callee: no\n(?:.*\n)*1 of 2 passed\n$/
  )
})

t.test("given a model on a server, then the callees talk to it at its own speed, and silences take no time", async (t) => {
  const server = await OpenAiEmulator.start()
  t.teardown(() => server.stop())
  server.script(
    { calls: [{ name: "yes", arguments: ["{}"] }], firstTokenMillis: 100 },
    { text: ["What ", "else?"], gapMillis: 50 },
    { text: ["Hello?"] },
    { text: ["Good", "bye."] }
  )
  const waits = {
    name: "waits",
    callee: [{ says: "I do." }, { silence: 1000 }],
    expect: { path: ["start", "ask"], says: ["What else?", "Hello?"] }
  }
  const scripts = await written("served.json", { scripts: [waits] })
  const { shown, status } = await check([agent, scripts, "--model", "emulated", "--url", server.url, "--verbose"])
  t.equal(status, 0, shown)
  t.match(
    shown,
    /callee: I do\.\n +at ask\n +agent: What else\?\n +\(the callee is silent for 1000 s\)\n +agent: Hello\?\n +agent: Goodbye\.\n/
  )
  t.equal(server.requests.length, 4)
  const away = await check([agent, scripts, "--model", "emulated", "--url", server.url])
  t.match(away, { status: 1, shown: /\(the model is in trouble: failed\)/ }, "a model that fails fails the test")
})

t.test("given unusable files or options, then nothing is tested", async (t) => {
  const scripts = await written("odd.json", { scripts: [{ ...goesAlong, callee: [{ says: "yes", at: "asks" }] }] })
  await refuses(t, /odd\.json cannot be used:\n {2}scripts\.0\.callee\.0\.at: The agent has no node 'asks'/, agent, scripts)
  await refuses(t, /: Field required\n/, agent, await written("none.json", {}))
  await refuses(t, /nothere\.json cannot be read\nUsage: npm run check-agent/, agent, join(folder, "nothere.json"))
  await refuses(t, /^An agent and a file with scripts are needed\.\nUsage/, agent)
  await refuses(t, /^--at-once needs a number/, agent, scripts, "--at-once", "none")
})
