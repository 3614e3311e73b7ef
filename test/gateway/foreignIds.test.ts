/**
 * Ids of another organization in bodies and queries: a client that sends one gets the same answer as for an id that does not exist. The fields
 * are derived from the routes; a field that is in neither table below makes the test fail.
 */
import t from "tap"
import type { TSchema } from "typebox"
import ari from "#adapters/ari/ari.ts"
import { apiRoutes } from "#gateway/api.ts"
import { openApi } from "./apiTest.ts"
import { httpTool, type Things, thingsOf } from "./things.ts"

const api = await openApi(t)
type Id = string | number

const nobodys: Things = {
  agent: 2_147_483_000,
  agentUuid: "",
  config: 2_147_483_000,
  number: 2_147_483_000,
  list: "campaigns/2147483000/00000000-0000-4000-8000-00000000dead_l.csv",
  document: "00000000-0000-4000-8000-00000000dead",
  documentFile: "knowledge_base/2147483000/00000000-0000-4000-8000-00000000dead/a.txt",
  recording: "r00000000",
  recordingFile: "recordings/2147483000/r00000000/a.wav",
  played: "r00000000",
  folder: 2_147_483_000,
  run: 2_147_483_000,
  transcript: "transcripts/2147483000.txt",
  credential: "00000000-0000-4000-8000-00000000dead",
  tool: ""
}

interface Case {
  /** Parameters that the path needs, from the organization itself. */
  readonly path?: (own: Things) => Readonly<Record<string, Id>>
  /** The rest of a valid request, with things of the organization itself. */
  readonly body?: (own: Things) => object
  /** The fields, and what they refer to. */
  readonly names: Readonly<Record<string, keyof Things>>
}
const phone = { phone_number: "+15550100001" }
const call: Pick<Case, "body" | "names"> = {
  body: () => phone,
  names: { telephony_configuration_id: "config", from_phone_number_id: "number" }
}
const byUuid = { ...call, path: ({ agentUuid }: Things) => ({ workflow_uuid: agentUuid }) }
const byTrigger = { ...call, path: () => ({ trigger_path: "other-path" }) }
const tool: Pick<Case, "body" | "names"> = {
  body: () => ({ name: "T", category: "http_api", definition: httpTool }),
  names: { "definition.config.credential_uuid": "credential" }
}
const recording = ({ recording: recording_id, recordingFile: storage_key }: Things) => ({ recording_id, storage_key, transcript: "Hi" })
const cases: Readonly<Record<string, Case>> = {
  "post /api/v1/campaign/create": {
    body: ({ agent, list }) => ({ name: "C", workflow_id: agent, source_type: "csv", source_id: list }),
    names: { workflow_id: "agent", source_id: "list", telephony_configuration_id: "config" }
  },
  "post /api/v1/campaign/check": {
    body: ({ list }) => ({ source_id: list }),
    names: { workflow_id: "agent", source_id: "list", telephony_configuration_id: "config" }
  },
  "put /api/v1/workflow/:workflow_id/folder": { path: ({ agent }) => ({ workflow_id: agent }), names: { folder_id: "folder" } },
  "get /api/v1/organizations/reports/daily": { names: { workflow_id: "agent" } },
  "get /api/v1/organizations/reports/daily/runs": { names: { workflow_id: "agent" } },
  "post /api/v1/public/agent/workflow/:workflow_uuid": byUuid,
  "post /api/v1/public/agent/test/workflow/:workflow_uuid": byUuid,
  "post /api/v1/public/agent/:trigger_path": byTrigger,
  "post /api/v1/public/agent/test/:trigger_path": byTrigger,
  "post /api/v1/telephony/initiate-call": {
    body: ({ agent }) => ({ ...phone, workflow_id: agent }),
    names: { ...call.names, workflow_id: "agent", workflow_run_id: "run" }
  },
  "post /api/v1/organizations/telephony-configs/:config_id/test": {
    path: ({ config }) => ({ config_id: config }),
    body: ({ agent }) => ({ call: { ...phone, workflow_id: agent } }),
    names: { "call.workflow_id": "agent", "call.from_phone_number_id": "number" }
  },
  "post /api/v1/organizations/telephony-configs/:config_id/phone-numbers": {
    path: ({ config }) => ({ config_id: config }),
    body: () => ({ address: "+15550108888" }),
    names: { inbound_workflow_id: "agent" }
  },
  "put /api/v1/organizations/telephony-configs/:config_id/phone-numbers/:number_id": {
    path: ({ config, number }) => ({ config_id: config, number_id: number }),
    names: { inbound_workflow_id: "agent" }
  },
  "get /api/v1/s3/signed-url": { names: { key: "transcript" } },
  "get /api/v1/s3/file-metadata": { names: { key: "list" } },
  "post /api/v1/tools/": tool,
  "put /api/v1/tools/:tool_uuid": { ...tool, path: (own) => ({ tool_uuid: own.tool }) },
  "get /api/v1/workflow-recordings/": { names: { workflow_id: "agent" } },
  "post /api/v1/workflow-recordings/upload-url": {
    body: () => ({ filename: "a.wav" }),
    names: { workflow_id: "agent" }
  },
  "post /api/v1/workflow-recordings/": { body: recording, names: { storage_key: "recordingFile", workflow_id: "agent" } },
  "patch /api/v1/workflow-recordings/:recording_id": {
    path: ({ played }) => ({ recording_id: played }),
    names: { workflow_id: "agent" }
  },
  "post /api/v1/knowledge-base/process-document": {
    body: ({ document: document_uuid, documentFile: s3_key }) => ({ document_uuid, s3_key }),
    names: { s3_key: "documentFile", document_uuid: "document" }
  }
}
/** Fields that look like ids, but refer to nothing that an organization has. */
const nameless: ReadonlyArray<RegExp> = [
  /(after_id|before_id|last_event_id)$/, // a place in one's own events
  /cursor_turn_id$/, // a place in one's own chat
  /^get \S+events\/ws run_id$/, // followed among one's own runs, see followLimits
  /tts_voice_id$/, // of a speech service
  /template_id$/, // of the engine itself
  /is_default_caller_id$/,
  /(dograh\.|^get \S+ws )api_key$/,
  /signaling\S+ token$/, // the credential of the caller, see signaling
  /quotas keys$/,
  /redeem token$/,
  /recording_id$/, // the word by which one's own prompts call it
  /^put \S+user\/organization /, // of users alone, and by membership
  /(files|recordings)\.\[\]\./ // as the same fields of one
]

const idsIn = (schema: TSchema | undefined, at = ""): ReadonlyArray<string> => {
  const { allOf, anyOf, items, properties } = { ...schema } as Readonly<Record<"allOf" | "anyOf", ReadonlyArray<TSchema> | undefined>> & {
    readonly items?: TSchema
    readonly properties?: Readonly<Record<string, TSchema>>
  } // A schema has the members of its kind.
  return [
    ...Object.entries(properties ?? {}).flatMap(([name, part]) => [
      ...(/(^|_)(id|ids|uuid|uuids|key|keys|token)$/.test(name) ? [at + name] : []),
      ...idsIn(part, `${at}${name}.`)
    ]),
    ...[...(anyOf ?? []), ...(allOf ?? [])].flatMap((part) => idsIn(part, at)),
    ...(items === undefined ? [] : idsIn(items, `${at}[].`))
  ]
}
const routes = apiRoutes([ari]).filter(({ access }) => access !== "none")
const named = ({ method, path }: (typeof routes)[number]) => `${method} ${path}`
const fieldsOf = ({ body, query }: (typeof routes)[number]) => [
  ...new Set([...idsIn(query), ...(body._tag === "Json" ? idsIn(body.schema) : [])])
]

const having = (body: object, field: string, id: Id): object => {
  const [first = "", ...rest] = field.split(".")
  return { ...body, [first]: rest.length === 0 ? id : having(Object(Reflect.get(body, first)), rest.join("."), id) }
}

t.test("given every route, when a field is an id, then this test knows what it refers to", async (t) => {
  for (const route of routes) {
    for (const field of fieldsOf(route)) {
      const words = `${named(route)} ${field}`
      t.ok(cases[named(route)]?.names[field] !== undefined || nameless.some((one) => one.test(words)), words)
    }
  }
  for (const [name, { names }] of Object.entries(cases)) {
    const route = routes.find((one) => named(one) === name)
    for (const field of Object.keys(names)) t.ok(route !== undefined && fieldsOf(route).includes(field), `${name} ${field} is there`)
  }
})

t.test("given two organizations, when one uses an id of the other, then the answer is the same as for an unknown id", async (t) => {
  await api.sql`SELECT setval(pg_get_serial_sequence(quote_ident(table_name), column_name), 700000)
    FROM information_schema.columns WHERE table_schema = 'public' AND is_identity = 'YES'`
  const ours = await thingsOf(api, api.ask, "our-path")
  const own = await thingsOf(api, api.askAsOther, "other-path")
  for (const [name, { body = () => ({}), names, path = () => ({}) }] of Object.entries(cases)) {
    const [method = "", template = ""] = name.split(" ")
    const to = template.replaceAll(/:([a-z_]+)/g, (_, part: string) => String(Reflect.get(path(own), part)))
    for (const [field, thing] of Object.entries(names)) {
      const ask = async (id: Id) => {
        const answer =
          method === "get"
            ? await api.askAsOther("GET", `${to}?${field}=${encodeURIComponent(id)}${queryOf(name)}`)
            : await api.askAsOther(method.toUpperCase(), to, having(body(own), field, id))
        return `${answer.status} ${answer.text.replaceAll(String(id), "#")}`
      }
      const ofNothing = await ask(nobodys[thing])
      t.equal(await ask(ours[thing]), ofNothing, `${name} ${field}`)
      // The document's file has already been used under the other name.
      if (field !== "document_uuid") t.not(await ask(own[thing]), ofNothing, `${name} ${field}, of one's own`)
    }
  }
})

const queryOf = (name: string): string => (name.includes("/reports/") ? `&date=${new Date().toISOString().slice(0, 10)}&timezone=UTC` : "")
