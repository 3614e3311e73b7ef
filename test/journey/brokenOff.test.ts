/** An engine that is killed while a language model extracts variables from a conversation: the next engine asks the model again. */
import t from "tap"
import { OpenAiEmulator } from "#test/emulators/openai/OpenAiEmulator.ts"
import { makeTalker } from "#test/emulators/shared/Talker.ts"
import { numbersOf, type Run, until, untilTrue, World } from "#test/support/engine.ts"
import { installRecognizer, recognizerName } from "#test/support/installRecognizer.ts"
import { makeMouth } from "#test/support/utterances.ts"

const words = "a garden chair please"
const speak = makeMouth()
const spoken = speak(words, { voice: "rms" })
const position = { x: 0, y: 0 }
const asking = (name: string, variable: string) => ({
  name,
  prompt: name,
  extraction_enabled: true,
  extraction_variables: [{ name: variable, type: "string", prompt: variable }]
})
const workflow_definition = {
  nodes: [
    { id: "1", type: "startCall", position, data: { ...asking("Wish", "wish"), greeting: "Hello. What do you wish for?" } },
    { id: "2", type: "agentNode", position, data: asking("Color", "color") },
    { id: "3", type: "endCall", position, data: { name: "End", prompt: "Say goodbye." } }
  ],
  edges: [
    { id: "on", source: "1", target: "2", data: { label: "On", condition: "The wish is known." } },
    { id: "out", source: "2", target: "3", data: { label: "Out", condition: "All is known." } }
  ]
}
const wellOverTheTest = 3_600_000

t.test("given variables that a model is extracting, when the engine is killed, then the next one asks it again", async (t) => {
  let isSlow = true
  const asked: Array<string> = []
  const model = await OpenAiEmulator.start({
    answer: ({ messages = [], tools = [] }) => {
      const names = tools.map((tool) => String(tool.function?.name))
      if (!names.includes("save_variables")) {
        const hasWish = messages.some(({ content, role }) => role === "user" && String(content).includes("garden"))
        return hasWish && names.includes("on") ? { calls: [{ name: "on", arguments: ["{}"] }] } : { text: ["Which color?"] }
      }
      const about = JSON.stringify(messages)
      asked.push(about)
      const isWish = JSON.stringify(tools).includes('"wish"')
      const answer = isWish
        ? { calls: [{ name: "save_variables", arguments: ['{"wish":"chair"}'] }] }
        : { text: ["Nobody has named a color."] }
      return isSlow ? { ...answer, firstTokenMillis: wellOverTheTest } : answer
    }
  })
  t.teardown(() => model.stop())
  const folder = t.testdir({})
  const world = await World.open(t, {
    emulator: { ringMillis: 100, talkMillis: 600_000 },
    environment: {
      ...installRecognizer(folder, { callees: new Map([[words, spoken]]) }),
      EGRESS_ALLOW: "127.0.0.0/8",
      RECORDINGS: "off"
    },
    folder
  })
  const { api, emulator } = world
  emulator.letTalk(true)
  // A busy machine may have lost the words, and asks again.
  const moves = Array.from({ length: 10 }, () => ({ cue: { afterAgent: 700 }, says: spoken }))
  emulator.log.talkerFor = () => makeTalker(moves, { press: () => {}, hangUp: () => {} })
  const created = await api.ask("POST", "/workflow/create/definition", { name: "Wishes", workflow_definition })
  // The cast holds because the route documents this shape.
  const agent = created.body as { readonly id: number; readonly workflow_uuid: string }
  const model_overrides = {
    llm: { provider: "openai", model: "emulated", api_key: "sk-any", base_url: model.url },
    stt: { provider: recognizerName }
  }
  t.equal((await api.ask("PUT", `/workflow/${agent.id}`, { workflow_configurations: { model_overrides } })).status, 200)
  const [number = ""] = numbersOf(1, ["11"])
  const called = await api.call(agent.workflow_uuid, number)
  const { workflow_run_id: id } = called.body as { readonly workflow_run_id: number }
  await untilTrue("a question about the wish", () => asked.length > 0)
  await untilTrue("the second node", async () => {
    const rows = await world.sql`SELECT FROM conversation_entries WHERE content -> 'nodes_visited' ? 'Color'`
    return rows.length > 0
  })
  await world.end("SIGKILL")
  asked.length = 0
  isSlow = false
  await world.launch()
  const run = await until("end of the run", async () => {
    const found = (await world.api.ask("GET", `/workflow/${agent.id}/runs/${id}`)).body as Run
    return found.is_completed ? found : undefined
  })
  t.match(run.gathered_context, { wish: "chair", extracted_variables: { wish: "chair" }, nodes_visited: ["Wish", "Color"] })
  t.notOk("color" in (run.gathered_context ?? {}), "then nothing is invented that nobody said")
  const failed = {
    type: "rtf-pipeline-error",
    payload: { error: "The variables of Color could not be extracted", processor: "extraction" }
  }
  const events = (run.logs as { readonly realtime_feedback_events?: ReadonlyArray<object> }).realtime_feedback_events ?? []
  t.match(events.at(-1), failed, "then the run tells that nothing was found out")
  const text = await (await fetch(`${world.engine.url}/metrics`)).text()
  t.match(text, /^conversation_extractions_failed_total(?:\{.*\})? 1$/m, "as do the metrics")
  t.ok(asked.length >= 1 && asked.every((about) => about.includes("garden")), "then it is asked about what was said")
  t.equal(emulator.log.count("originate"), 1, "then nobody is called again")
})
