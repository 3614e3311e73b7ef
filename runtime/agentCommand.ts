/** Shared parts of the commands that try out an agent: the agent, its contact's variables, and the model. */
import { lookup } from "node:dns"
import { readFile } from "node:fs/promises"
import { Cause, Effect, Layer } from "effect"
import { embedded } from "#adapters/voice/embedded/embedded.ts"
import { openai } from "#adapters/voice/openai/openai.ts"
import { compile } from "#core/agent/conversation/ConversationGraph.ts"
import { settingsOf } from "#core/agent/conversation/ConversationSettings.ts"
import type { ConversationPlan } from "#core/agent/conversation/ConversationState.ts"
import { compileTools, type UsableTool } from "#core/agent/conversation/ConversationTool.ts"
import type { HttpToolRequest } from "#core/agent/conversation/HttpTool.ts"
import { agentTemplates } from "#core/agent/templates/AgentTemplate.ts"
import { EgressPolicy } from "#core/egress/Egress.ts"
import { isObject, type JsonObject } from "#core/Json.ts"
import type { OpenLanguageModel } from "#core/model/LanguageModel.ts"
import { toldTo } from "#core/model/ServiceChoice.ts"
import { toolTypes } from "#core/tool/Tool.ts"
import { askService } from "./conversation/HttpTools.ts"
import { WebhookSender } from "./webhook/WebhookSender.ts"

/** The command was called with an argument that it cannot use. */
export class WrongUse extends Error {}

const parse = (text: string): unknown => {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

export const jsonIn = async (name: string): Promise<unknown> => {
  const text = await readFile(name, "utf8").catch(() => undefined)
  if (text === undefined) throw new WrongUse(`${name} cannot be read`)
  const parsed = parse(text)
  if (parsed === undefined) throw new WrongUse(`${name} holds no JSON`)
  return parsed
}

interface WrittenAgent {
  readonly definition: JsonObject
  readonly configurations: JsonObject
  /** The variables that its contacts have in tests. */
  readonly context: JsonObject
  readonly tools: ReadonlyArray<UsableTool>
}

/** In the form in which the API lists them. */
const toolsIn = (given: unknown, name: string): ReadonlyArray<UsableTool> => {
  if (given === undefined) return []
  if (!Array.isArray(given)) throw new WrongUse(`The tools in ${name} are not a list`)
  return given.map((tool: unknown, index) => {
    const { definition, description, name: called, tool_uuid: toolUuid } = isObject(tool) ? tool : {}
    const type = isObject(definition) ? toolTypes.find((one) => one === definition["type"]) : undefined
    if (!isObject(definition) || type === undefined || typeof called !== "string" || typeof toolUuid !== "string")
      throw new WrongUse(`Tool ${index + 1} in ${name} lacks its tool_uuid, name or definition`)
    const config = isObject(definition["config"]) ? definition["config"] : {}
    return {
      toolUuid,
      name: called,
      description: typeof description === "string" ? description : null,
      status: "active",
      definition: { schema_version: 1, type, config }
    }
  })
}

/** A file contains either an agent or only its definition. */
const agentIn = (text: string, name: string): WrittenAgent => {
  const parsed = parse(text)
  if (!isObject(parsed)) throw new WrongUse(`${name} holds no agent as JSON`)
  const {
    template_context_variables: context,
    tools,
    workflow_configurations: configurations,
    workflow_definition: definition = parsed
  } = parsed
  if (!isObject(definition)) throw new WrongUse(`${name} holds no agent`)
  return {
    definition,
    configurations: isObject(configurations) ? configurations : {},
    context: isObject(context) ? context : {},
    tools: toolsIn(tools, name)
  }
}

const loadAgent = async (name: string): Promise<WrittenAgent> => {
  const template = agentTemplates.find((one) => one.name.toLowerCase() === name.toLowerCase())
  if (template !== undefined) return { definition: template.definition, configurations: {}, context: {}, tools: [] }
  const text = await readFile(name, "utf8").catch(() => undefined)
  if (text === undefined)
    throw new WrongUse(`${name} is neither a file nor a template: ${agentTemplates.map((one) => one.name).join(", ")}`)
  return agentIn(text, name)
}

/** A template, or a file containing an agent in the API's form. */
export const planOf = async (
  name: string
): Promise<Pick<WrittenAgent, "configurations" | "context"> & { readonly plan: Omit<ConversationPlan, "timeZone"> }> => {
  const { configurations, context, definition, tools } = await loadAgent(name)
  const graph = compile(definition, configurations)
  if (graph === undefined) throw new WrongUse(`${name} has no node of the type startCall`)
  return { plan: { graph, tools: compileTools(tools), settings: settingsOf(configurations), canHear: true }, configurations, context }
}

/** `name=value`, repeatable. */
export const contextOf = (pairs: ReadonlyArray<string>): JsonObject =>
  Object.fromEntries(
    pairs.map((pair) => {
      const at = pair.indexOf("=")
      if (at < 1) throw new WrongUse(`--with needs name=value, not ${pair}`)
      return [pair.slice(0, at), pair.slice(at + 1)]
    })
  )

/** The user of the command may connect to anything this machine can reach. */
export const host = { egress: { refuses: () => false, lookup: () => lookup, maySendTo: () => true } }

type ModelChoice = { readonly model?: string; readonly url?: string }
export const modelOptions = { model: { type: "string" }, url: { type: "string" } } as const

/** The built-in model, or the named one of any OpenAI-compatible server. */
export const modelOf = ({ model, url }: ModelChoice, configurations: JsonObject): OpenLanguageModel =>
  model === undefined
    ? embedded.open({}, host, toldTo(configurations, embedded.manifest.provider))
    : openai.open({ model, base_url: url, api_key: process.env["LLM_API_KEY"] ?? "none" }, host)

/** What callees may say to that model, for recognizers. */
export const expectedBy = ({ model }: ModelChoice) => (model === undefined ? embedded : openai).expected

const sender = WebhookSender.layer.pipe(
  Layer.provide(Layer.succeed(EgressPolicy, { webhooks: host.egress, trunksOf: () => Effect.succeed(host.egress) }))
)
/** Really calls the tool's service; only the engine knows credentials. */
export const runTool = (request: HttpToolRequest) =>
  Effect.provide(
    WebhookSender.use((one) => askService(one, () => Effect.undefined, request)),
    sender
  )

/** Says in one line why the command cannot continue. */
export const explained = <A, E>(command: Effect.Effect<A, E>, usage: string): Effect.Effect<void> =>
  Effect.catchCause(Effect.asVoid(command), (cause) => {
    const error = Cause.squash(cause)
    process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n${error instanceof WrongUse ? `${usage}\n` : ""}`)
    process.exitCode = 1
    return Effect.void
  })
