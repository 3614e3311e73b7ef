/** Callees whom a whole engine greets with data that it has fetched from a server for their calls. */
import t from "tap"
import { answeringServer } from "#test/support/answeringServer.ts"
import { type Run, numbersOf, untilTrue, World } from "#test/support/engine.ts"
import { webhook } from "#test/support/nodeWebhooks.ts"
import { wrote } from "#test/support/EngineProcess.ts"

interface Asked {
  readonly authorization: string | undefined
  readonly question: { readonly agent_id: number; readonly from_number: string; readonly to_number: string }
}

t.test("given an agent that fetches before its calls, when contacts are called", async (t) => {
  const asked: Array<Asked> = []
  const told: Array<Record<string, unknown>> = []
  const left = new Set<string>()
  const [quick = "", slow = "", failing = ""] = numbersOf(3, ["01"])
  const [absent = ""] = numbersOf(1, ["13"])
  let slowAnswers = () => {}
  const { url } = await answeringServer(t, (response, { body, headers, line }) => {
    if (line === "POST /told") {
      told.push(JSON.parse(body))
      response.end()
      return
    }
    const { call_inbound, event } = JSON.parse(body)
    t.equal(event, "call_inbound")
    asked.push({ authorization: headers.authorization, question: call_inbound })
    const to: string = call_inbound.to_number
    response.on("close", () => {
      if (!response.writableFinished) left.add(to)
    })
    const answer = (context: object) => response.end(JSON.stringify({ call_inbound: { initial_context: context } }))
    if (to === failing) response.writeHead(500).end("a secret of the server")
    else if (to === slow) {
      slowAnswers = () => void answer({ greeting_override: { type: "text", text: "Dear {{first_name}}." }, first_name: "Zoe" })
    } else if (to !== absent) answer({ first_name: "Grace", cart: { items: 3 }, provider: "theirs", note: "a\0b" })
  })

  const world = await World.open(t, {
    // A callee who answers stays until they have been spoken to, however slow the machine.
    emulator: { ringMillis: 1000, seed: 3, talkMillis: 6000, talkOnceHeard: true },
    environment: { WEBHOOK_PRIVATE_TARGETS: "on" }
  })
  const { api, emulator } = world
  // The cast holds because this test knows the shape of the answers to its requests.
  const ask = async (method: string, path: string, body?: object) => (await api.ask(method, path, body)).body as Record<string, never>
  const { uuid } = await ask("POST", "/credentials/", {
    name: "crm",
    credential_type: "bearer_token",
    credential_data: { token: "s3cret" }
  })
  const start = {
    name: "Start",
    prompt: "Greet.",
    greeting: "Hello {{first_name}}.",
    pre_call_fetch_mode: "always",
    pre_call_fetch_url: `${url}/contacts`,
    pre_call_fetch_credential_uuid: uuid
  }
  const payload_template = { to: "{{initial_context.phone_number}}", name: "{{initial_context.first_name}}" }
  await ask("PUT", `/workflow/${world.agentId}`, {
    workflow_definition: {
      nodes: [
        { id: "1", type: "startCall", position: { x: 0, y: 0 }, data: start },
        webhook("2", { name: "Told", endpoint_url: `${url}/told`, payload_template })
      ],
      edges: []
    }
  })
  const { id } = await world.campaign([quick, slow, failing, absent], {
    max_concurrency: 4,
    retry: { maxRetries: 0, retryDelaySeconds: 30 }
  })
  await api.start(id)
  await untilTrue("answer of a callee whose name is not known yet", () => emulator.log.of(slow).some(({ kind }) => kind === "answered"))
  const heardBefore = () => emulator.log.heard(emulator.log.of(slow)[0]?.channelId ?? "").length
  await untilTrue("something to hear meanwhile", () => heardBefore() > 0)
  slowAnswers()
  await api.untilState(id, "completed")

  const runs = new Map((await api.runs(id)).map((run) => [String(run.initial_context?.["phone_number"]), run]))
  const saidIn = async (run: Run | undefined) => {
    const { url } = await ask("GET", `/s3/signed-url?key=${encodeURIComponent(run?.transcript_url ?? "")}`)
    return await (await fetch(String(url))).text()
  }
  const logsOf = async (run: Run | undefined) => (await ask("GET", `/workflow/${world.agentId}/runs/${run?.id}`))["logs"]

  await t.test("then each is greeted by the fetched name, or else by the known one", async (t) => {
    t.match(await saidIn(runs.get(quick)), /assistant: Hello Grace\.\n/)
    t.match(await saidIn(runs.get(slow)), /assistant: Dear Zoe\.\n/)
    t.match(await saidIn(runs.get(failing)), /assistant: Hello Ada\.\n/)
  })
  await t.test("then the server was asked once for each call, with the credential", async (t) => {
    t.strictSame(asked.map(({ question }) => question.to_number).sort(), [quick, slow, failing, absent].sort())
    for (const { authorization, question } of asked) t.strictSame([authorization, question.agent_id], ["Bearer s3cret", world.agentId])
  })
  await t.test("then the runs and webhooks have the fetched data, except what is reserved or cannot be stored", async (t) => {
    const context = runs.get(quick)?.initial_context ?? {}
    t.match(context, { first_name: "Grace", cart: { items: 3 }, provider: "ari", called_number: quick })
    t.notOk("note" in context)
    t.equal(runs.get(failing)?.initial_context?.["first_name"], "Ada")
    await untilTrue("what the webhooks tell", () => told.length === 4)
    const names = Object.fromEntries(told.map(({ name, to }) => [to, name]))
    t.strictSame(names, { [quick]: "Grace", [slow]: "Zoe", [failing]: "Ada", [absent]: "Ada" })
  })
  await t.test("then the request for a callee who did not answer was given up without a problem", async (t) => {
    await untilTrue("end of the request", () => left.has(absent))
    t.strictSame(Reflect.get(Object(await logsOf(runs.get(absent))), "realtime_feedback_events"), [])
  })
  await t.test("then the run whose fetch failed says so", async (t) => {
    const problem = { type: "rtf-pipeline-error", payload: { error: "Nothing was fetched before the call: status_500", fatal: false } }
    t.match(await logsOf(runs.get(failing)), { realtime_feedback_events: [problem] })
  })
  await t.test("then the log contains no name, number, address, secret or answer", async (t) => {
    await wrote(world, /nothing was fetched for a call.*status_500/)
    t.notOk(/Grace|Zoe|\+1555|127\.0\.0\.1:\d+\/contacts|s3cret|a secret/.test(world.output()))
  })
})
