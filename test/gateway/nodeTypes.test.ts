/** The node types, as clients read them. */
import t from "tap"
import { type Json, openApi } from "./apiTest.ts"

const { ask } = await openApi(t)
// The cast holds because the list was checked against its schema.
const { node_types: types } = (await ask("GET", "/node-types")).json as { readonly node_types: ReadonlyArray<Json> }
const typeOf = (name: string) => types.find((type) => type["name"] === name)
const propertiesOf = (name: string) => {
  const properties: ReadonlyArray<Json> = typeOf(name)?.["properties"] ?? []
  return properties.map((one) => `${one["name"]}:${one["type"]}${one["required"] ? "*" : ""}=${JSON.stringify(one["default"])}`)
}

t.test("given the node types", async (t) => {
  t.test("when they are listed, then by name, each as when it is read alone", async (t) => {
    const names = types.map(({ name }) => name)
    t.strictSame(names, ["agentNode", "endCall", "globalNode", "noveum", "paygent", "qa", "startCall", "trigger", "tuner", "webhook"])
    for (const type of types) t.strictSame((await ask("GET", `/node-types/${type["name"]}`)).json, type)
  })

  t.test("when one is unknown, then 404", async (t) => {
    for (const name of ["nope", "toString", "__proto__"]) {
      t.strictSame(await ask("GET", `/node-types/${name}`).then(({ json, status }) => [status, json]), [
        404,
        { detail: `Unknown node type: '${name}'` }
      ])
    }
  })

  t.test("when clients build from them, then the names and defaults are those they know", async (t) => {
    t.strictSame(propertiesOf("startCall"), [
      'name:string*="Start Call"',
      'greeting_type:options="text"',
      "greeting:string=null",
      "greeting_recording_id:recording_ref=null",
      "prompt:mention_textarea*=null",
      "allow_interrupt:boolean=false",
      "add_global_prompt:boolean=true",
      "delayed_start:boolean=false",
      "delayed_start_duration:number=2",
      "extraction_enabled:boolean=false",
      "extraction_prompt:string=null",
      "extraction_variables:fixed_collection=null",
      "tool_uuids:tool_refs=null",
      "document_uuids:document_refs=null",
      'pre_call_fetch_mode:options="disabled"',
      "pre_call_fetch_url:url=null",
      "pre_call_fetch_credential_uuid:credential_ref=null"
    ])
    t.match(propertiesOf("agentNode"), ['name:string*="Agent"', "prompt:mention_textarea*=null", "allow_interrupt:boolean=true"])
    t.match(propertiesOf("endCall"), ['name:string*="End Call"', "prompt:mention_textarea*=null", "add_global_prompt:boolean=false"])
    t.match(propertiesOf("trigger"), ['name:string*="API Trigger"', "enabled:boolean=true", "trigger_path:string=null"])
    t.strictSame(typeOf("endCall")?.["graph_constraints"], {
      min_incoming: 1,
      max_incoming: null,
      min_outgoing: null,
      max_outgoing: 0,
      min_instances: null,
      max_instances: null
    })
    const keys = [
      "name",
      "display_name",
      "description",
      "llm_hint",
      "category",
      "icon",
      "version",
      "properties",
      "examples",
      "graph_constraints"
    ]
    for (const type of types) t.strictSame(Object.keys(type), keys)
  })
})
