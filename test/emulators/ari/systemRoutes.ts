/** /bridges, /applications, /asterisk and /endpoints. */
import { randomUUID } from "node:crypto"
import { type Application, asteriskId } from "./Applications.ts"
import type { Bridge } from "./Bridges.ts"
import type { Channel } from "./Channel.ts"
import { type AriRequest, type Asterisk, nothing, ok, refuse, type Route, route } from "./Route.ts"

const bridgeOf = ({ bridges }: Asterisk, id: string): Bridge => bridges.get(id) ?? refuse(404, "Bridge not found")

const namedChannels = ({ channels }: Asterisk, query: URLSearchParams): ReadonlyArray<Channel> =>
  (query.get("channel") ?? refuse(400, "Channel must be specified")).split(",").map((id) => {
    const channel = channels.get(id) ?? refuse(400, "Channel not found")
    return channel.inStasis ? channel : refuse(422, "Channel not in Stasis application")
  })

const createBridge: Route["handle"] = ({ bridges }, { query }) => {
  const bridgeId = query.get("bridgeId") || randomUUID()
  if (bridges.get(bridgeId) !== undefined) return refuse(409, "Bridge with given unique ID already exists")
  return ok(bridges.create(bridgeId, query.get("name") ?? "", query.get("type") ?? "mixing"))
}

const destroyBridge: Route["handle"] = (asterisk, { id }) => {
  asterisk.bridges.destroy(bridgeOf(asterisk, id))
  return nothing
}

const addChannel: Route["handle"] = (asterisk, { id, query }) => {
  const bridge = bridgeOf(asterisk, id)
  for (const channel of namedChannels(asterisk, query)) asterisk.bridges.enter(bridge, channel)
  return nothing
}

const removeChannel: Route["handle"] = (asterisk, { id, query }) => {
  const bridge = bridgeOf(asterisk, id)
  for (const channel of namedChannels(asterisk, query)) {
    if (channel.bridge !== bridge) return refuse(422, "Channel not in this bridge")
    asterisk.bridges.leave(channel)
  }
  return nothing
}

const music =
  (on: boolean): Route["handle"] =>
  (asterisk, { id }) => {
    bridgeOf(asterisk, id).hasMusic = on
    return nothing
  }

const bridgeRoutes: ReadonlyArray<Route> = [
  route("GET /bridges", "list", ({ bridges }) => ok(bridges.all()), { answers: "List[Bridge]" }),
  route("POST /bridges", "create", createBridge, { query: "type bridgeId name", answers: "Bridge" }),
  route("GET /bridges/{bridgeId}", "get", (asterisk, { id }) => ok(bridgeOf(asterisk, id)), { answers: "Bridge" }),
  route("DELETE /bridges/{bridgeId}", "destroy", destroyBridge),
  route("POST /bridges/{bridgeId}/addChannel", "addChannel", addChannel, { query: "channel role" }),
  route("POST /bridges/{bridgeId}/moh", "startMoh", music(true), { query: "mohClass" }),
  route("DELETE /bridges/{bridgeId}/moh", "stopMoh", music(false)),
  route("POST /bridges/{bridgeId}/removeChannel", "removeChannel", removeChannel, { query: "channel" })
]

const shown = ({ channels }: Asterisk, app: Application) => ({
  name: app.name,
  channel_ids: channels
    .all()
    .filter((channel) => channel.subscribers.includes(app.name))
    .map((channel) => channel.id),
  events_allowed: app.allowed.map((type) => ({ type }))
})

const applicationOf = ({ applications }: Asterisk, name: string): Application =>
  applications.get(name) ?? refuse(404, "Application not found")

const sources = ({ channels }: Asterisk, { query }: AriRequest): ReadonlyArray<Channel> =>
  (query.get("eventSource") ?? refuse(400, "eventSource must be specified")).split(",").map((source) => {
    const [scheme, id = ""] = source.split(/:(.*)/s)
    if (scheme !== "channel") return refuse(400, "Invalid event source URI scheme")
    return channels.get(id) ?? refuse(422, "Event source does not exist")
  })

const types = (filter: unknown): ReadonlyArray<string> =>
  Array.isArray(filter) ? filter.map((each: unknown) => String(Object(each).type)) : []

const subscribe: Route["handle"] = (asterisk, request) => {
  const app = applicationOf(asterisk, request.id)
  for (const source of sources(asterisk, request)) {
    if (!source.subscribers.includes(app.name)) source.subscribers.push(app.name)
  }
  return ok(shown(asterisk, app))
}

const filter: Route["handle"] = (asterisk, { body, id }) => {
  const app = applicationOf(asterisk, id)
  app.allowed = types(body["allowed"])
  return ok(shown(asterisk, app))
}

const find: Route["handle"] = (asterisk, { id }) => ok(shown(asterisk, applicationOf(asterisk, id)))

const application = "/applications/{applicationName}"
const applicationRoutes: ReadonlyArray<Route> = [
  route(`GET ${application}`, "get", find, { answers: "Application" }),
  route(`POST ${application}/subscription`, "subscribe", subscribe, { query: "eventSource", answers: "Application" }),
  route(`PUT ${application}/eventFilter`, "filter", filter, { body: "filter", answers: "Application" })
]

/** The running modules. */
const modules = [
  "app_stasis",
  "bridge_simple",
  "bridge_softmix",
  "chan_pjsip",
  "chan_rtp",
  "chan_websocket",
  "res_ari_applications",
  "res_ari_asterisk",
  "res_ari_bridges",
  "res_ari_channels",
  "res_ari_endpoints",
  "res_ari_events",
  "res_http_websocket",
  "res_stasis"
]

const info: Route["handle"] = (asterisk) =>
  ok({
    build: { os: "Linux", kernel: "6.1", machine: "x86_64", options: "OPTIONAL_API", date: "2026-01-01", user: "root" },
    system: { version: asterisk.version, entity_id: asteriskId },
    config: { name: "emulator", default_language: "en", setid: { user: "asterisk", group: "asterisk" } },
    status: { startup_time: asterisk.startupTime(), last_reload_time: asterisk.startupTime() }
  })

const listModules: Route["handle"] = () =>
  ok(modules.map((name) => ({ name: `${name}.so`, description: name, use_count: 0, status: "Running", support_level: "core" })))

const findEndpoint: Route["handle"] = ({ knowsTrunk }, { id, secondId }) =>
  knowsTrunk(secondId) ? ok({ technology: id, resource: secondId, state: "online", channel_ids: [] }) : refuse(404, "Endpoint not found")

export const systemRoutes: ReadonlyArray<Route> = [
  ...bridgeRoutes,
  ...applicationRoutes,
  route("GET /asterisk/info", "getInfo", info, { query: "only", answers: "AsteriskInfo" }),
  route("GET /asterisk/modules", "listModules", listModules, { answers: "List[Module]" }),
  route("GET /endpoints/{tech}/{resource}", "get", findEndpoint, { answers: "Endpoint" })
]
