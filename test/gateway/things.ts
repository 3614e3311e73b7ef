/** What an organization can have, one of each kind. */
import { type Json, ari, bodyOf, csv, graph, type TestApi } from "./apiTest.ts"
import type { Answer } from "./gatewayTest.ts"

type Ask = (method: string, path: string, json?: unknown) => Promise<Answer>
export type Things = Awaited<ReturnType<typeof thingsOf>>
export const httpTool = { schema_version: 1, type: "http_api", config: { method: "POST", url: "https://api.example/x" } }

/** `name` is that of all things, and the path of the agent's trigger. */
export const thingsOf = async ({ makeRun }: TestApi, ask: Ask, name: string) => {
  const made = async (path: string, json: object) => {
    const answer = await ask("POST", path, json)
    if (answer.status !== 200) throw new Error(`${path}: ${answer.text}`)
    return bodyOf(answer)
  }
  const uploaded = async (path: string, json: object, type: string, body: string): Promise<Json> => {
    const ticket = await made(path, json)
    await fetch(String(ticket["upload_url"]), { method: "PUT", body, headers: { "content-type": type } })
    return ticket
  }
  const trigger = { id: "t", type: "trigger", position: { x: 0, y: 0 }, data: { name: "T", trigger_path: name } }
  const agent = await made("/workflow/create/definition", { name, workflow_definition: { ...graph, nodes: [...graph.nodes, trigger] } })
  const config = await made("/organizations/telephony-configs", {
    name,
    is_default_outbound: true,
    config: { ...ari, ari_endpoint: "https://pbx.example.org" }
  })
  const number = await made(`/organizations/telephony-configs/${config.id}/phone-numbers`, { address: "+15550107777" })
  const list = await uploaded("/s3/presigned-upload-url", { file_name: "l.csv", file_size: csv.length }, "text/csv", csv)
  const text = { filename: "a.txt", mime_type: "text/plain" }
  const document = await uploaded("/knowledge-base/upload-url", text, "text/plain", "Nine to five.")
  const sound = (filename: string) => uploaded("/workflow-recordings/upload-url", { filename }, "audio/wav", "RIFF")
  const [recording, played] = [await sound("a.wav"), await sound("b.wav")]
  const { recording_id, storage_key } = played
  await made("/workflow-recordings/", { recording_id, storage_key, transcript: "Hi", workflow_id: agent.id })
  const run = await makeRun(agent.id, {
    is_completed: true,
    transcript_key: `transcripts/${name}.txt`,
    recording_key: `recordings/${name}.wav`
  })
  const credential = { name, credential_type: "bearer_token", credential_data: { token: "secret-0123456789" } }
  return {
    agent: agent.id,
    agentUuid: String(agent["workflow_uuid"]),
    config: config.id,
    number: number.id,
    list: String(list["file_key"]),
    document: String(document["document_uuid"]),
    documentFile: String(document["s3_key"]),
    recording: String(recording["recording_id"]),
    recordingFile: String(recording["storage_key"]),
    played: String(played["recording_id"]),
    folder: (await made("/folder/", { name })).id,
    run,
    transcript: `transcripts/${run}.txt`,
    credential: String((await made("/credentials/", credential))["uuid"]),
    tool: String((await made("/tools/", { name, category: "http_api", definition: httpTool }))["tool_uuid"])
  }
}
