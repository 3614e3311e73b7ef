import { Effect, Layer } from "effect"
import t from "tap"
import { PublicFiles } from "#core/file/PublicFiles.ts"
import { RunId } from "#core/Id.ts"
import { FileLinks } from "#gateway/file/FileLinks.ts"
import * as publicFiles from "#gateway/file/publicFiles.ts"
import { ServerInfo } from "#gateway/ports/ServerInfo.ts"
import { graph, openApi } from "./apiTest.ts"

const { ask, database, makeAgent, makeRun, port, sql } = await openApi(t)
const nobody = "00000000-0000-4000-8000-00000000dead"

const webhook = (id: string, data: object) => ({ id, type: "webhook", position: { x: 0, y: 0 }, data })
const definition = {
  ...graph,
  nodes: [
    ...graph.nodes,
    webhook("z", { name: "CRM", endpoint_url: "https://crm.example.com/calls", payload_template: { name: "Zq7private" } }),
    webhook("a", { name: "Archive", http_method: "PUT", endpoint_url: "https://archive.example.com" }),
    webhook("off", { name: "Off", enabled: false, endpoint_url: "https://off.example.com" })
  ]
}
const agent = await makeAgent(definition)

const begun = () => makeRun(agent.id)
const end = (run: number) => sql`UPDATE runs SET is_completed = true WHERE id = ${run}`
const die = (run: number) => sql`UPDATE node_webhook_deliveries SET state = 'dead_letter', attempts = 5, last_status = 500,
  last_error = 'status_500', settled_at = now() WHERE run_id = ${run} AND node_id = 'z'`
const pathOf = (run: number) => `/workflow/${agent.id}/runs/${run}/webhooks`
const list = async (run: number) =>
  // The cast holds because the answer was checked against its schema.
  (
    (await ask("GET", pathOf(run))).json as {
      readonly deliveries: ReadonlyArray<Readonly<Record<string, unknown>> & { readonly id: string }>
    }
  ).deliveries

t.test("given a call", async (t) => {
  const run = await begun()

  t.test("when it is not over, then nothing was sent", async (t) => {
    t.strictSame(await list(run), [])
  })

  t.test("when it is over, then there is a delivery for each node that is turned on, without its content", async (t) => {
    await end(run)
    const found = await list(run)
    t.match(found, [
      {
        node_id: "z",
        name: "CRM",
        method: "POST",
        url: "https://crm.example.com/calls",
        state: "pending",
        attempts: 0,
        next_attempt_at: /Z$/
      },
      { node_id: "a", name: "Archive", method: "PUT", last_attempt_at: null, last_status: null, last_error: null }
    ])
    t.equal(found.length, 2)
    t.notMatch(JSON.stringify(found), "Zq7private")
  })

  t.test("when one is dead-lettered, then it can be replayed, and only then", async (t) => {
    await die(run)
    const [dead, pending] = await list(run)
    t.match(dead, { state: "dead_letter", next_attempt_at: null, last_status: 500, last_error: "status_500" })
    t.strictSame((await ask("POST", `${pathOf(run)}/${dead?.id}/replay`)).json, { queued: 1 })
    t.match((await list(run))[0], { id: dead?.id, state: "pending", attempts: 0 })
    for (const one of [dead, pending]) {
      const refused = await ask("POST", `${pathOf(run)}/${one?.id}/replay`)
      t.match([refused.status, refused.json], [409, { detail: "Only dead-lettered deliveries can be replayed (current state: pending)" }])
    }
  })
})

t.test("given a dead-lettered delivery of a call", async (t) => {
  const [run, otherRun] = [await begun(), await begun()]
  await end(run)
  await die(run)
  const [dead] = await list(run)

  t.test("when it is requested with the id of another call, agent or delivery, then there is none", async (t) => {
    const ofOther = await ask("POST", `${pathOf(otherRun)}/${dead?.id}/replay`)
    t.match([ofOther.status, ofOther.json], [404, { detail: "Webhook delivery not found" }])
    t.equal((await ask("GET", `/workflow/${agent.id + 1}/runs/${run}/webhooks`)).status, 404)
    for (const id of [nobody, "nothing"]) t.equal((await ask("POST", `${pathOf(run)}/${id}/replay`)).status, 404, id)
    t.equal((await ask("POST", `${pathOf(run)}/%00/replay`)).status, 422)
  })
})

t.test("given a run with files, when the engine requests their addresses, then these work", async (t) => {
  const run = RunId.make(await begun())
  await sql`UPDATE runs SET recording_key = 'recordings/' || id || '.wav' WHERE id = ${run}`
  const site = Layer.succeed(ServerInfo, { version: "", url: Effect.succeed(`http://127.0.0.1:${port}`), listensOn: () => Effect.void })
  const addresses = await database.run(
    PublicFiles.use((_) => _.addressesOf({ id: run, recordingKey: `recordings/${run}.wav`, transcriptKey: undefined })).pipe(
      Effect.provide(publicFiles.layer.pipe(Layer.provide([FileLinks.layer, site])))
    )
  )
  t.equal(addresses.transcript, undefined)
  t.equal((await fetch(addresses.recording ?? "", { redirect: "manual" })).status, 302)
})
