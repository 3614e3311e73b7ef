/** Generates OpenAPI 3.1 from the routes: what is documented is what is checked. */
import Type, { type TObject, type TSchema } from "typebox"
import { type DomainTag, statusOf } from "#gateway/request/Refusal.ts"
import type { Route } from "#gateway/request/Route.ts"
import { exampleOf, requestExampleOf } from "./openapiExample.ts"
import { type Components, componentsOf, type JsonSchema } from "./openapiSchema.ts"

export interface OpenApi {
  readonly openapi: "3.1.0"
  readonly info: {
    readonly title: string
    readonly version: string
    readonly description: string
    readonly contact: { readonly name: string }
    readonly license: { readonly name: string; readonly identifier: string }
  }
  readonly servers: ReadonlyArray<{ readonly url: string }>
  readonly tags: ReadonlyArray<{ readonly name: string; readonly description: string }>
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>
  readonly components: {
    readonly schemas: Readonly<Record<string, JsonSchema>>
    readonly securitySchemes: Readonly<Record<string, JsonSchema>>
  }
}

interface Media {
  readonly schema: JsonSchema
  readonly example?: unknown
}

interface Answer {
  readonly description: string
  readonly headers?: Readonly<Record<string, JsonSchema>>
  readonly content?: Readonly<Record<string, Media>>
}

export interface Operation {
  readonly operationId: string
  readonly summary: string
  readonly description: string
  readonly tags: ReadonlyArray<string>
  readonly security: ReadonlyArray<Readonly<Record<string, ReadonlyArray<string>>>>
  readonly parameters: ReadonlyArray<JsonSchema>
  readonly requestBody?: { readonly required: true; readonly content: Readonly<Record<string, Media>> }
  readonly responses: Readonly<Record<string, Answer>>
}

const errorSchema: JsonSchema = {
  type: "object",
  properties: { detail: { type: "string", description: "The reason, in one sentence." } },
  required: ["detail"],
  examples: [{ detail: "Campaign not found" }]
}
const violationSchema: JsonSchema = {
  type: "object",
  properties: {
    type: { type: "string" },
    loc: {
      type: "array",
      items: { anyOf: [{ type: "string" }, { type: "integer" }] },
      description: "The place: `body`, `query`, `path` or `header`, followed by the path within it."
    },
    msg: { type: "string" },
    input: { description: "The value at that place." },
    ctx: { type: "object" }
  },
  required: ["type", "loc", "msg", "input"],
  examples: [{ type: "missing", loc: ["body", "name"], msg: "Field required", input: {} }]
}
/** Only `validate` and `publish` of agents answer with it. */
const invalidGraphSchema: JsonSchema = {
  type: "object",
  properties: {
    is_valid: { const: false },
    errors: {
      type: "array",
      items: {
        type: "object",
        properties: {
          kind: { enum: ["node", "edge", "workflow"] },
          id: { type: ["string", "null"] },
          field: { type: ["string", "null"] },
          message: { type: "string" }
        },
        required: ["kind", "id", "field", "message"]
      }
    }
  },
  required: ["is_valid", "errors"]
}
/** Only text chats answer with it. */
const revisionConflictSchema: JsonSchema = {
  type: "object",
  properties: { message: { type: "string" }, expected_revision: { type: "integer" }, actual_revision: { type: "integer" } },
  required: ["message", "expected_revision", "actual_revision"]
}
const conflictSchema: JsonSchema = {
  type: "object",
  properties: { detail: { anyOf: [{ type: "string" }, { $ref: "#/components/schemas/RevisionConflict" }] } },
  required: ["detail"]
}
const validationSchema: JsonSchema = {
  type: "object",
  properties: {
    detail: {
      anyOf: [
        { type: "array", items: { $ref: "#/components/schemas/Violation" } },
        { type: "string" },
        { $ref: "#/components/schemas/InvalidWorkflow" }
      ]
    }
  },
  required: ["detail"]
}
const bytesSchema: JsonSchema = { type: "string", format: "binary" }

/** The document at once, which takes a tenth of a second. */
export const openApiOf = (routes: ReadonlyArray<Route<unknown>>, version: string): OpenApi => {
  const steps = openApiSteps(routes, version)
  for (;;) {
    const step = steps.next()
    if (step.done === true) return step.value
  }
}

/** The document in steps, none of which takes long. */
export const openApiSteps = function* (routes: ReadonlyArray<Route<unknown>>, version: string): Generator<undefined, OpenApi> {
  const components = yield* componentsOf(routes, {
    Error: errorSchema,
    Conflict: conflictSchema,
    InvalidWorkflow: invalidGraphSchema,
    RevisionConflict: revisionConflictSchema,
    Violation: violationSchema,
    ValidationError: validationSchema
  })
  const paths: Record<string, Record<string, Operation>> = {}
  for (const route of routes) {
    const path = route.path.replaceAll(/:([a-z_]+)/g, "{$1}")
    paths[path] = { ...paths[path], [route.method]: operationOf(route, components) }
    yield
  }
  return {
    openapi: "3.1.0",
    info: {
      title: "Trunkline",
      version,
      description: "Calls people with voice agents: single calls and whole campaigns.",
      contact: { name: "The operator of this server" },
      license: { name: "MIT", identifier: "MIT" }
    },
    servers: [{ url: "/" }],
    tags: [...new Set(routes.map(({ tag }) => tag))].map(({ about, name }) => ({ name, description: about })),
    paths,
    components: {
      schemas: components.schemas,
      securitySchemes: {
        apiKey: { type: "apiKey", in: "header", name: "X-API-Key" },
        bearer: { type: "http", scheme: "bearer", description: "An API key, or the token of a logged-in user." }
      }
    }
  }
}

/** Every caller is at least a viewer. A log-in has every scope. */
const whoMay = ({ access, errors, needs, scope }: Route<unknown>): string => {
  if (access === "none") return "Needs no credential."
  if (needs === "operator") return "For the operator's keys."
  const who = needs === "viewer" ? "every role" : `the role \`${needs}\` and those above it`
  if (errors.includes("LoginNeeded")) return `For ${who}, with a log-in and not with an API key.`
  return `For ${who}, and for API keys with the scope \`${scope}\`.`
}

const operationOf = (route: Route<unknown>, components: Components): Operation => ({
  operationId: route.name,
  summary: route.summary,
  description: `${route.description}\n\n${whoMay(route)}`,
  tags: [route.tag.name],
  security: { "api-key": [{ apiKey: [] }, { bearer: [] }], "api-key-header": [{ apiKey: [] }], none: [] }[route.access],
  parameters: [
    ...parametersOf("path", route.params, components),
    ...parametersOf("query", route.query, components),
    ...parametersOf("header", route.headers, components).filter(({ name }) => !isImplied(String(name)))
  ],
  ...requestBodyOf(route, components),
  responses: responsesOf(route, components)
})

/** OpenAPI describes these two elsewhere. */
const isImplied = (header: string): boolean => header === "X-API-Key" || header === "Content-Type"

const parametersOf = (place: string, schema: TObject, components: Components): ReadonlyArray<JsonSchema> =>
  Object.entries(schema.properties).map(([name, property]) => {
    const { description, ...rest } = components.input(givenOf(property))
    return {
      name,
      in: place,
      required: place === "path" || !("default" in property),
      ...(description === undefined ? {} : { description }),
      schema: rest
    }
  })

/** A parameter cannot be null, only left out. */
const givenOf = (schema: TSchema): TSchema => (Type.IsUnion(schema) ? (schema.anyOf.find((one) => !Type.IsNull(one)) ?? schema) : schema)

const requestBodyOf = ({ body }: Route<unknown>, components: Components): Pick<Operation, "requestBody"> => {
  if (body._tag === "None") return {}
  const content =
    body._tag === "Json"
      ? { "application/json": { schema: components.input(body.schema), example: requestExampleOf(body.schema) } }
      : Object.fromEntries(body.mediaTypes.map((type) => [type, { schema: bytesSchema }]))
  return { requestBody: { required: true, content } }
}

const linkHeader: JsonSchema = {
  description: 'The URL of the next part, relative to this one, as `rel="next"`. Absent from the last part.',
  schema: { type: "string" },
  example: '</api/v1/workflow/fetch?limit=1000&after=1000>; rel="next"'
}

const refer = (name: string): JsonSchema => ({ $ref: `#/components/schemas/${name}` })
const problem = (description: string, name = "Error"): Answer => ({ description, content: { "application/json": { schema: refer(name) } } })

/** A request that is refused before it is parsed gets no JSON. */
const problemOf = (status: number, description: string, hasRevisions: boolean): Answer => {
  if (status === 431) return { description }
  return problem(description, status === 422 ? "ValidationError" : status === 409 && hasRevisions ? "Conflict" : "Error")
}

/** Turns `CampaignNotFound` into `Campaign not found`. */
const wordsOf = (tag: DomainTag): string => {
  const words = tag.replaceAll(/(?<=[a-z])(?=[A-Z])/g, " ").toLowerCase()
  return words.charAt(0).toUpperCase() + words.slice(1)
}

const isChecked = ({ body, headers, params, query }: Route<unknown>): boolean =>
  body._tag === "Json" || [params, query, headers].some(({ properties }) => Object.keys(properties).length > 0)

const responsesOf = (route: Route<unknown>, components: Components): Readonly<Record<string, Answer>> => {
  const { access, body, errors, needs, scope, success } = route
  const reasons = new Map<number, Array<string>>()
  const add = (status: number, ...words: ReadonlyArray<string>) => reasons.set(status, [...(reasons.get(status) ?? []), ...words])
  for (const tag of errors) add(statusOf(tag), wordsOf(tag))
  if (access === "api-key") add(401, "Not authenticated")
  if (access !== "none")
    add(429, "The organization sends too many requests, too many of them are waiting, or too many unknown API keys came from this address")
  // Every caller is at least a viewer.
  if (access !== "none" && needs === "operator") add(403, "The key is not an operator's")
  else if (access !== "none")
    add(403, ...(needs === "viewer" ? [] : [`The caller's role is below ${needs}`]), `The key lacks the scope \`${scope}\``)
  if (body._tag === "Json") add(400, "The body is not UTF-8")
  if (body._tag !== "None") {
    add(408, "The body took too long to arrive")
    add(413, "The body is too large")
  }
  if (isChecked(route)) add(422, "The request is invalid")
  if (success._tag === "Content") add(416, "The file has no such range")
  add(431, "The request headers are too large")
  add(500, "Internal server error")
  if (route.answeredBy === "decider") add(502, "The engine that decides was lost while it had the request, which it may have carried out")
  add(503, "The request took too long, the engine is overloaded, or the service is shutting down")
  const hasRevisions = errors.includes("TextChatConflict")
  const problems = [...reasons].map(
    ([status, words]) => [String(status), problemOf(status, [...new Set(words)].join(". "), hasRevisions)] as const
  )
  return Object.fromEntries([...successes(route.success, components), ...problems])
}

const successes = (success: Route["success"], components: Components): ReadonlyArray<readonly [string, Answer]> => {
  if (success._tag === "Redirect") return [["302", { description: "Redirects to the URL in `Location`" }]]
  if (success._tag === "Json") {
    const media = { schema: components.output(success.schema), example: exampleOf(success.schema) }
    const headers = success.isListed ? { headers: { Link: linkHeader } } : {}
    return [["200", { description: "Success", ...headers, content: { "application/json": media } }]]
  }
  const content = Object.fromEntries(success.mediaTypes.map((type) => [type, { schema: type === "application/json" ? {} : bytesSchema }]))
  return [
    ["200", { description: "The whole content", content }],
    ["206", { description: "The range that was requested with `Range`", content }]
  ]
}
