/** The API documents in Swagger 1.1, as Asterisk serves them: generated from the routes, so that generic clients can build on them. */
import type { Route } from "./Route.ts"

const bodies: { readonly [model: string]: Readonly<Record<string, string>> } = {
  Dial: { peer: "Channel", dialstatus: "string", dialstring: "string", forward: "string" },
  ChannelStateChange: { channel: "Channel" },
  ChannelVarset: { channel: "Channel", variable: "string", value: "string" },
  ChannelHangupRequest: { channel: "Channel", cause: "int", soft: "boolean", tech_cause: "int" },
  ChannelDestroyed: { channel: "Channel", cause: "int", cause_txt: "string", tech_cause: "int" },
  ChannelDtmfReceived: { channel: "Channel", digit: "string", duration_ms: "int" },
  ChannelEnteredBridge: { channel: "Channel", bridge: "Bridge" },
  ChannelLeftBridge: { channel: "Channel", bridge: "Bridge" },
  BridgeDestroyed: { bridge: "Bridge" },
  StasisStart: { channel: "Channel", args: "List[string]" },
  StasisEnd: { channel: "Channel" },
  ApplicationReplaced: {}
}

const models = Object.fromEntries(
  Object.entries(bodies).map(([id, properties]) => [
    id,
    {
      id,
      description: "An event.",
      properties: Object.fromEntries(
        Object.entries({ type: "string", timestamp: "Date", application: "string", asterisk_id: "string", ...properties }).map(
          ([name, type]) => [name, { type, required: false, description: name }]
        )
      )
    }
  ])
)

const resourceOf = (route: Route): string => route.path.split("/")[1] ?? ""

const parameter = (paramType: "body" | "path" | "query", name: string) => ({
  name,
  description: name,
  paramType,
  required: paramType === "path",
  allowMultiple: false,
  dataType: paramType === "body" ? "containers" : "string"
})

const operation = (route: Route) => ({
  httpMethod: route.method,
  nickname: route.nickname,
  summary: route.nickname,
  responseClass: route.answers ?? "void",
  parameters: [
    ...[...route.path.matchAll(/\{(\w+)\}/g)].map(([, name = ""]) => parameter("path", name)),
    ...route.query.map((name) => parameter("query", name)),
    ...(route.body === undefined ? [] : [parameter("body", route.body)])
  ]
})

/** Serves `resources.json` and `<resource>.json`; undefined if there is no such document. */
export const apiDocument = (routes: ReadonlyArray<Route>, file: string, host: string): object | undefined => {
  const byResource = Map.groupBy(routes, resourceOf)
  const head = { apiVersion: "10.0.0", swaggerVersion: "1.1", basePath: `http://${host}/ari` }
  if (file === "resources.json") {
    const resources = [...byResource.keys(), "events"]
    return { ...head, apis: resources.map((name) => ({ path: `/api-docs/${name}.{format}`, description: name })) }
  }
  const name = file.replace(/\.json$/, "")
  const found = byResource.get(name)
  if (found === undefined && name !== "events") return undefined
  const apis = [...Map.groupBy(found ?? [], (route) => route.path)].map(([path, each]) => ({
    path,
    description: path,
    operations: each.map(operation)
  }))
  return { ...head, resourcePath: `/api-docs/${name}.{format}`, apis, models: name === "events" ? models : {} }
}
