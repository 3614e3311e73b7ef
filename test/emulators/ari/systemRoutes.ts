/** /bridges, /applications, /asterisk and /endpoints. */
import { randomUUID } from "node:crypto"
import { type Application, asteriskId } from "./Applications.ts"
import type { Bridge } from "./Bridges.ts"
import { type Channel, timestamp } from "./Channel.ts"
import { type AriRequest, type Asterisk, nothing, ok, refuse, type Route } from "./Route.ts"

const bridgeOf = ({ bridges }: Asterisk, id: string): Bridge => bridges.get(id) ?? refuse(404, "Bridge not found")

const namedChannels = ({ channels }: Asterisk, query: URLSearchParams): ReadonlyArray<Channel> =>
  (query.get("channel") ?? refuse(400, "Channel must be specified")).split(",").map((id) => {
    const channel = channels.get(id) ?? refuse(400, "Channel not found")
    return channel.inStasis ? channel : refuse(422, "Channel not in Stasis application")
  })

const createBridge: Route["handle"] = ({ bridges }, { id, query }) => {
  const bridgeId = id || query.get("bridgeId") || randomUUID()
  if (bridges.get(bridgeId) !== undefined) return refuse(409, "Bridge with given unique ID already exists")
  return ok(bridges.create(bridgeId, query.get("name") ?? "", query.get("type") ?? "mixing"))
}

const bridgeRoutes: ReadonlyArray<Route> = [
  { method: "GET", path: "/bridges", nickname: "list", answers: "List[Bridge]", handle: ({ bridges }) => ok(bridges.all()) },
  { method: "POST", path: "/bridges", nickname: "create", query: ["type", "bridgeId", "name"], answers: "Bridge", handle: createBridge },
  {
    method: "GET",
    path: "/bridges/{bridgeId}",
    nickname: "get",
    answers: "Bridge",
    handle: (asterisk, { id }) => ok(bridgeOf(asterisk, id))
  },
  {
    method: "POST",
    path: "/bridges/{bridgeId}",
    nickname: "createWithId",
    query: ["type", "name"],
    answers: "Bridge",
    handle: createBridge
  },
  {
    method: "DELETE",
    path: "/bridges/{bridgeId}",
    nickname: "destroy",
    handle: (asterisk, { id }) => {
      asterisk.bridges.destroy(bridgeOf(asterisk, id))
      return nothing
    }
  },
  {
    method: "POST",
    path: "/bridges/{bridgeId}/addChannel",
    nickname: "addChannel",
    query: ["channel", "role"],
    handle: (asterisk, { id, query }) => {
      const bridge = bridgeOf(asterisk, id)
      for (const channel of namedChannels(asterisk, query)) asterisk.bridges.enter(bridge, channel)
      return nothing
    }
  },
  {
    method: "POST",
    path: "/bridges/{bridgeId}/moh",
    nickname: "startMoh",
    query: ["mohClass"],
    handle: (asterisk, { id }) => {
      bridgeOf(asterisk, id).hasMusic = true
      return nothing
    }
  },
  {
    method: "DELETE",
    path: "/bridges/{bridgeId}/moh",
    nickname: "stopMoh",
    handle: (asterisk, { id }) => {
      bridgeOf(asterisk, id).hasMusic = false
      return nothing
    }
  },
  {
    method: "POST",
    path: "/bridges/{bridgeId}/removeChannel",
    nickname: "removeChannel",
    query: ["channel"],
    handle: (asterisk, { id, query }) => {
      const bridge = bridgeOf(asterisk, id)
      for (const channel of namedChannels(asterisk, query)) {
        if (channel.bridge !== bridge) return refuse(422, "Channel not in this bridge")
        asterisk.bridges.leave(channel)
      }
      return nothing
    }
  }
]

const shown = ({ bridges, channels }: Asterisk, app: Application) => ({
  name: app.name,
  channel_ids: channels
    .all()
    .filter((channel) => channel.subscribers.includes(app.name))
    .map((channel) => channel.id),
  bridge_ids: bridges
    .all()
    .filter((bridge) => bridge.subscribers.includes(app.name))
    .map((bridge) => bridge.id),
  endpoint_ids: [],
  device_names: [],
  events_allowed: app.allowed.map((type) => ({ type })),
  events_disallowed: app.disallowed.map((type) => ({ type }))
})

const applicationOf = ({ applications }: Asterisk, name: string): Application =>
  applications.get(name) ?? refuse(404, "Application not found")

type Source = { subscribers: Array<string> }

const sources = (asterisk: Asterisk, { query }: AriRequest): ReadonlyArray<Source> =>
  (query.get("eventSource") ?? refuse(400, "eventSource must be specified")).split(",").flatMap((source): ReadonlyArray<Source> => {
    const [scheme, id = ""] = source.split(/:(.*)/s)
    if (scheme === "channel") return [asterisk.channels.get(id) ?? refuse(422, "Event source does not exist")]
    if (scheme === "bridge") return [asterisk.bridges.get(id) ?? refuse(422, "Event source does not exist")]
    return scheme === "endpoint" || scheme === "deviceState" ? [] : refuse(400, "Invalid event source URI scheme")
  })

const types = (filter: unknown): ReadonlyArray<string> =>
  Array.isArray(filter) ? filter.map((each: unknown) => String(Object(each).type)) : []

const applicationRoutes: ReadonlyArray<Route> = [
  {
    method: "GET",
    path: "/applications",
    nickname: "list",
    answers: "List[Application]",
    handle: (asterisk) => ok(asterisk.applications.all().map((app) => shown(asterisk, app)))
  },
  {
    method: "GET",
    path: "/applications/{applicationName}",
    nickname: "get",
    answers: "Application",
    handle: (asterisk, { id }) => ok(shown(asterisk, applicationOf(asterisk, id)))
  },
  {
    method: "POST",
    path: "/applications/{applicationName}/subscription",
    nickname: "subscribe",
    query: ["eventSource"],
    answers: "Application",
    handle: (asterisk, request) => {
      const app = applicationOf(asterisk, request.id)
      for (const source of sources(asterisk, request)) {
        if (!source.subscribers.includes(app.name)) source.subscribers.push(app.name)
      }
      return ok(shown(asterisk, app))
    }
  },
  {
    method: "DELETE",
    path: "/applications/{applicationName}/subscription",
    nickname: "unsubscribe",
    query: ["eventSource"],
    answers: "Application",
    handle: (asterisk, request) => {
      const app = applicationOf(asterisk, request.id)
      for (const source of sources(asterisk, request)) source.subscribers = source.subscribers.filter((name) => name !== app.name)
      return ok(shown(asterisk, app))
    }
  },
  {
    method: "PUT",
    path: "/applications/{applicationName}/eventFilter",
    nickname: "filter",
    body: "filter",
    answers: "Application",
    handle: (asterisk, { body, id }) => {
      const app = applicationOf(asterisk, id)
      app.allowed = types(body["allowed"])
      app.disallowed = types(body["disallowed"])
      return ok(shown(asterisk, app))
    }
  }
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

const asteriskRoutes: ReadonlyArray<Route> = [
  {
    method: "GET",
    path: "/asterisk/info",
    nickname: "getInfo",
    query: ["only"],
    answers: "AsteriskInfo",
    handle: (asterisk) =>
      ok({
        build: { os: "Linux", kernel: "6.1", machine: "x86_64", options: "OPTIONAL_API", date: "2026-01-01", user: "root" },
        system: { version: asterisk.version, entity_id: asteriskId },
        config: { name: "emulator", default_language: "en", setid: { user: "asterisk", group: "asterisk" } },
        status: { startup_time: asterisk.startupTime(), last_reload_time: asterisk.startupTime() }
      })
  },
  {
    method: "GET",
    path: "/asterisk/modules",
    nickname: "listModules",
    answers: "List[Module]",
    handle: () =>
      ok(modules.map((name) => ({ name: `${name}.so`, description: name, use_count: 0, status: "Running", support_level: "core" })))
  },
  {
    method: "GET",
    path: "/asterisk/ping",
    nickname: "ping",
    answers: "AsteriskPing",
    handle: () => ok({ asterisk_id: asteriskId, ping: "pong", timestamp: timestamp() })
  }
]

const endpointRoutes: ReadonlyArray<Route> = [
  {
    method: "GET",
    path: "/endpoints/{tech}/{resource}",
    nickname: "get",
    answers: "Endpoint",
    handle: ({ knowsTrunk }, { id, secondId }) =>
      knowsTrunk(secondId)
        ? ok({ technology: id, resource: secondId, state: "online", channel_ids: [] })
        : refuse(404, "Endpoint not found")
  }
]

export const systemRoutes: ReadonlyArray<Route> = [...bridgeRoutes, ...applicationRoutes, ...asteriskRoutes, ...endpointRoutes]
