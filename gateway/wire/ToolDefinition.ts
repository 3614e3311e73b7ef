/** The definition of a tool, by `type`. Only the fields listed here are kept for each type. */
import Type from "typebox"
import { object, optional } from "#gateway/request/Field.ts"

const credential = optional(Type.String({ description: "The `uuid` of a credential of the organization." }))

const ToolParameter = Type.Object(
  {
    name: Type.String({ minLength: 1 }),
    type: Type.Enum(["string", "number", "boolean", "object", "array"]),
    description: Type.String({ description: "For the model." }),
    required: Type.Boolean({ default: true })
  },
  { title: "ToolParameter" }
)
const PresetParameter = Type.Object(
  {
    name: Type.String({ minLength: 1 }),
    type: Type.Enum(["string", "number", "boolean", "object", "array"]),
    value_template: Type.String({ description: "Can contain placeholders: `{{initial_context.phone_number}}`." }),
    required: Type.Boolean({ default: true, description: "Whether it must have a value." })
  },
  { title: "PresetToolParameter" }
)
const HttpApiConfig = Type.Object(
  {
    method: Type.Enum(["GET", "POST", "PUT", "PATCH", "DELETE"]),
    url: Type.String({ description: "Can contain placeholders. Empty: the tool is not ready yet." }),
    headers: optional(Type.Record(Type.String(), Type.String())),
    credential_uuid: credential,
    parameters: optional(Type.Array(ToolParameter, { description: "Parameters that the model provides." })),
    preset_parameters: optional(Type.Array(PresetParameter, { description: "Parameters that are always sent, independent of the model." })),
    timeout_ms: Type.Union([Type.Integer({ minimum: 1 }), Type.Null()], { default: 5000 }),
    customMessage: optional(Type.String({ description: "Said before the request." })),
    customMessageType: optional(Type.Enum(["text", "audio"])),
    customMessageRecordingId: optional(Type.String()),
    body_template: optional(Type.Unknown({ description: "The body, with placeholders. If left out, the parameters are sent." }))
  },
  { title: "HttpApiConfig" }
)

const message = {
  messageType: Type.Enum(["none", "custom", "audio"], { default: "none" }),
  customMessage: optional(Type.String()),
  audioRecordingId: optional(Type.String())
}
const EndCallConfig = Type.Object(
  {
    ...message,
    endCallReason: Type.Boolean({ default: false, description: "Whether the model has to give a reason." }),
    endCallReasonDescription: optional(Type.String())
  },
  { title: "EndCallConfig" }
)
const TransferCallConfig = Type.Refine(
  Type.Object(
    {
      destination_source: Type.Enum(["static", "dynamic", "context_mapping"], { default: "static" }),
      destination: Type.String({ default: "", description: "A phone number or SIP endpoint; can contain placeholders." }),
      ...message,
      timeout: Type.Integer({ minimum: 5, maximum: 120, default: 30, description: "Seconds within which the destination has to answer." }),
      resolver: optional(object("Of a `dynamic` destination: who is asked for it.")),
      context_mapping: optional(object("Of a `context_mapping`: `rules`, and a `fallback_destination`."))
    },
    { title: "TransferCallConfig" }
  ),
  ({ destination, destination_source }) => destination_source !== "static" || destination.trim() !== "",
  () => "destination is required when destination_source is 'static'"
)
const McpConfig = Type.Object(
  {
    transport: Type.Literal("streamable_http", { default: "streamable_http" }),
    url: Type.String({ pattern: "^https?://" }),
    credential_uuid: credential,
    tools_filter: Type.Array(Type.String(), { default: [], description: "Names of the tools to offer. Empty: all tools." }),
    timeout_secs: Type.Integer({ minimum: 1, default: 30 }),
    sse_read_timeout_secs: Type.Integer({ minimum: 1, default: 300 }),
    discovered_tools: Type.Array(object(), { default: [] })
  },
  { title: "McpToolConfig" }
)

const version = { schema_version: Type.Integer({ minimum: 1, default: 1 }) }

export const ToolDefinitionWire = Type.Union(
  [
    Type.Object({ ...version, type: Type.Literal("http_api"), config: HttpApiConfig }, { title: "HttpApiToolDefinition" }),
    Type.Object({ ...version, type: Type.Literal("end_call"), config: EndCallConfig }, { title: "EndCallToolDefinition" }),
    Type.Object({ ...version, type: Type.Literal("transfer_call"), config: TransferCallConfig }, { title: "TransferCallToolDefinition" }),
    Type.Object({ ...version, type: Type.Literal("calculator") }, { title: "CalculatorToolDefinition" }),
    Type.Object({ ...version, type: Type.Literal("mcp"), config: McpConfig }, { title: "McpToolDefinition" })
  ],
  { discriminator: { propertyName: "type" } }
)
