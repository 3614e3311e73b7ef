/** Graphs that refer to what does not exist: `validate` names each reference, and calls do without it. */
import { randomUUID } from "node:crypto"
import t from "tap"
import { bodyOf, graph, type Json, openApi } from "./apiTest.ts"
import { httpTool, type Things, thingsOf } from "./things.ts"

const api = await openApi(t)
const { ask, askAsOther, makeAgent } = api
const own = await thingsOf(api, ask, "own")
const foreign = await thingsOf(api, askAsOther, "foreign")
const validated = async ({ id }: Json) => {
  const { json, status } = await ask("POST", `/workflow/${id}/validate`)
  return { json, status }
}

const numberOf = async (asking: typeof ask | typeof askAsOther, { played }: Things): Promise<number> => {
  const { json } = await asking("GET", "/workflow-recordings/")
  // The cast holds because every answer is checked against its schema.
  return (json as { recordings: ReadonlyArray<Json> }).recordings.find(({ recording_id }) => recording_id === played)?.id ?? 0
}
const processed = ({ document: document_uuid, documentFile: s3_key }: Things) => ({ document_uuid, s3_key })
await ask("POST", "/knowledge-base/process-document", processed(own))
await askAsOther("POST", "/knowledge-base/process-document", processed(foreign))
const [ownNumber, foreignNumber] = [await numberOf(ask, own), await numberOf(askAsOther, foreign)]
const archived = String(bodyOf(await ask("POST", "/tools/", { name: "Old", category: "http_api", definition: httpTool }))["tool_uuid"])
await ask("DELETE", `/tools/${archived}`)
const nothing = randomUUID()

const position = { x: 0, y: 0 }
const [start] = graph.nodes
const end = { id: "2", type: "endCall", position, data: { name: "End", prompt: "Say goodbye." } }
const edge = (id: string, recording: unknown, type = "audio") => ({
  id,
  source: "1",
  target: "2",
  data: { label: id, condition: "Always", transition_speech_type: type, transition_speech_recording_id: recording }
})
const webhook = (id: string, credential_uuid: string, enabled = true) => ({
  id,
  type: "webhook",
  position,
  data: { name: id, enabled, credential_uuid }
})
const started = (data: object) => ({ ...start, data: { ...start?.data, ...data } })

t.test("given references to what the organization does not have, then validate names each, and publishing is possible", async (t) => {
  const agent = await makeAgent({
    nodes: [
      started({
        tool_uuids: [own.tool, own.tool.toUpperCase(), nothing, foreign.tool, archived, "a tool", ""],
        document_uuids: [own.document, nothing, foreign.document],
        greeting_type: "audio",
        greeting_recording_id: foreign.played,
        pre_call_fetch_mode: "always",
        pre_call_fetch_url: "https://crm.example.org/",
        pre_call_fetch_credential_uuid: foreign.credential
      }),
      end,
      webhook("w1", ` ${own.credential} `),
      webhook("w2", nothing),
      webhook("w3", foreign.credential)
    ],
    edges: [
      edge("e1", own.played),
      edge("e2", ownNumber),
      edge("e3", "missing"),
      edge("e4", String(foreignNumber)),
      edge("e5", "no recording")
    ]
  })
  const error = (kind: string, id: string, field: string, message: string) => ({ kind, id, field, message })
  const { json, status } = await validated(agent)
  t.equal(status, 422)
  t.strictSame(json, {
    detail: {
      is_valid: false,
      errors: [
        error("node", "1", "tool_uuids.2", `Tool '${nothing}' does not exist or is archived`),
        error("node", "1", "tool_uuids.3", `Tool '${foreign.tool}' does not exist or is archived`),
        error("node", "1", "tool_uuids.4", `Tool '${archived}' does not exist or is archived`),
        error("node", "1", "tool_uuids.5", "Tool 'a tool' does not exist or is archived"),
        error("node", "1", "document_uuids.1", `Document '${nothing}' does not exist`),
        error("node", "1", "document_uuids.2", `Document '${foreign.document}' does not exist`),
        error("node", "1", "greeting_recording_id", `Recording '${foreign.played}' does not exist`),
        error("node", "1", "pre_call_fetch_credential_uuid", `Credential '${foreign.credential}' does not exist`),
        error("node", "w2", "credential_uuid", `Credential '${nothing}' does not exist`),
        error("node", "w3", "credential_uuid", `Credential '${foreign.credential}' does not exist`),
        error("edge", "e3", "data.transition_speech_recording_id", "Recording 'missing' does not exist"),
        error("edge", "e4", "data.transition_speech_recording_id", `Recording '${foreignNumber}' does not exist`),
        error("edge", "e5", "data.transition_speech_recording_id", "Recording 'no recording' does not exist")
      ]
    }
  })
  await ask("POST", `/workflow/${agent.id}/create-draft`)
  t.match(await ask("POST", `/workflow/${agent.id}/publish`), { status: 200 })
})

t.test("given an unfinished graph with such a reference, then validate names both", async (t) => {
  const agent = await makeAgent({ nodes: [started({ tool_uuids: [nothing], prompt: "" }), end], edges: [edge("e1", own.played)] })
  t.match((await validated(agent)).json, {
    detail: {
      errors: [
        { field: null, message: /prompt is required/ },
        { field: "tool_uuids.0", message: /does not exist/ }
      ]
    }
  })
})

t.test("given references that no call uses, then they may lead nowhere", async (t) => {
  const agent = await makeAgent({
    nodes: [
      started({ greeting_type: "text", greeting_recording_id: "missing", pre_call_fetch_credential_uuid: nothing }),
      end,
      webhook("w1", nothing, false)
    ],
    edges: [edge("e1", "missing", "text")]
  })
  t.strictSame(await validated(agent), { status: 200, json: { is_valid: true, errors: [] } })
})
