/** All of /channels except external media. */
import type { Channel } from "./Channel.ts"
import { type AriRequest, type Asterisk, AriRefusal, channelOf, nothing, ok, refuse, type Route, route, stringsOf } from "./Route.ts"

const longestId = 149
const defaultTimeoutSeconds = 30
/** Asterisk's names for the causes in `reason`. */
const reasons: { readonly [reason: string]: number } = {
  normal: 16,
  busy: 17,
  congestion: 34,
  no_answer: 19,
  timeout: 19,
  rejected: 21,
  unallocated: 1,
  normal_unspecified: 31,
  number_incomplete: 28,
  codec_mismatch: 127,
  interworking: 127,
  failure: 38,
  answered_elsewhere: 26
}

/** `PJSIP/<number>@<trunk>`, `PJSIP/<trunk>/sip:<number>@<host>` or `PJSIP/<phone>`. */
const destination = (endpoint: string): { readonly technology: string; readonly number: string; readonly trunk: string } => {
  const [technology = "", resource = "", uri] = endpoint.split("/", 3)
  if (technology === "" || resource === "") return refuse(400, "Invalid endpoint specified")
  const [number = "", trunk = number] = resource.split("@", 2)
  if (uri !== undefined) return { technology, number: uri.replace(/^sips?:/, "").split("@", 1)[0] ?? "", trunk: resource }
  return { technology, number, trunk }
}

export const checkId = ({ channels }: Asterisk, id: string): string => {
  if (id.length > longestId) refuse(400, "Uniqueid length exceeds maximum of 149")
  if (channels.isTaken(id)) refuse(409, "Channel with given unique ID already exists")
  return id
}

let lastName = 0

const newChannel = (asterisk: Asterisk, { body, id, query }: AriRequest): Channel => {
  const endpoint = query.get("endpoint") ?? refuse(400, "Endpoint must be specified")
  const { number, technology, trunk } = destination(endpoint)
  const app = query.get("app") ?? ""
  if (app === "" && !query.has("extension")) refuse(400, "Application or extension must be specified")
  const channelId = checkId(asterisk, id || query.get("channelId") || `${Math.floor(Date.now() / 1000)}.${++lastName}`)
  const isKnown = (technology === "PJSIP" || technology === "Local") && asterisk.knowsTrunk(trunk)
  if (!isKnown) throw new AriRefusal(500, { error: "Allocation failed" })
  return asterisk.calls.create({
    id: channelId,
    name: `${technology}/${trunk}-${(++lastName).toString(16).padStart(8, "0")}`,
    app,
    appArgs: query.get("appArgs") ?? "",
    number,
    callerId: query.get("callerId") ?? "",
    variables: stringsOf(body["variables"])
  })
}

// Zero and anything that is not a number mean the default; below zero there is no limit.
const timeoutSeconds = (query: URLSearchParams): number => Number.parseInt(query.get("timeout") ?? "", 10) || defaultTimeoutSeconds

const originate: Route["handle"] = async (asterisk, request) => {
  const channel = newChannel(asterisk, request)
  const shown = ok(channel.toJSON())
  await asterisk.calls.dial(channel, timeoutSeconds(request.query), request.receivedAt)
  return shown
}

const inStasis = (asterisk: Asterisk, id: string): Channel => {
  const channel = channelOf(asterisk, id)
  return channel.inStasis ? channel : refuse(409, "Channel not in Stasis application")
}

const causeOf = (query: URLSearchParams): number => {
  const code = query.get("reason_code")
  const reason = query.get("reason")
  if (code !== null && reason !== null) return refuse(400, "The reason and reason_code parameters are mutually exclusive")
  const cause = code === null ? reasons[reason ?? "normal"] : Number(code)
  return cause === undefined || !Number.isInteger(cause) ? refuse(400, "Invalid Reason") : cause
}

const hangUp: Route["handle"] = (asterisk, { id, query }) => {
  const channel = channelOf(asterisk, id)
  const cause = causeOf(query)
  setImmediate(() => asterisk.calls.hangUp(channel, cause))
  return nothing
}

const leave: Route["handle"] = (asterisk, { id, query }) => {
  const channel = inStasis(asterisk, id)
  const [context, exten] = [query.get("context") ?? "default", query.get("extension") ?? "s"]
  setImmediate(() => {
    if (channel.ended) return
    asterisk.calls.leaveStasis(channel)
    asterisk.dialplan.run(channel, context, exten, Number(query.get("priority") ?? 1))
  })
  return nothing
}

const press: Route["handle"] = (asterisk, { id, query }) => {
  inStasis(asterisk, id)
  asterisk.log.press(id, query.get("dtmf") ?? refuse(400, "DTMF must be specified"))
  return nothing
}

const variable: Route["handle"] = (asterisk, { id, query }) => {
  const channel = channelOf(asterisk, id)
  const name = query.get("variable") ?? refuse(400, "Variable name is required")
  const [, context, priority] = /^DIALPLAN_EXISTS\(([^,]*),[^,]*,(\d+)\)$/.exec(name) ?? []
  if (context !== undefined) return ok({ value: asterisk.dialplan.has(context, Number(priority)) ? "1" : "0" })
  const value = channel.variables[name] ?? channel.channelvars?.[name]
  return value === undefined ? refuse(404, "Provided variable was not found") : ok({ value })
}

const originateQuery = "endpoint extension context priority label app appArgs callerId timeout otherChannelId originator formats"
const placing = { body: "variables", answers: "Channel", places: true } as const

export const channelRoutes: ReadonlyArray<Route> = [
  route("GET /channels", "list", ({ channels }) => ok(channels.all()), { answers: "List[Channel]" }),
  route("POST /channels", "originate", originate, { ...placing, query: `${originateQuery} channelId` }),
  route("GET /channels/{channelId}", "get", (asterisk, { id }) => ok(channelOf(asterisk, id)), { answers: "Channel" }),
  route("POST /channels/{channelId}", "originateWithId", originate, { ...placing, query: originateQuery }),
  route("DELETE /channels/{channelId}", "hangup", hangUp, { query: "reason_code reason" }),
  route("POST /channels/{channelId}/continue", "continueInDialplan", leave, { query: "context extension priority label" }),
  route("POST /channels/{channelId}/dtmf", "sendDTMF", press, { query: "dtmf before between duration after" }),
  route("GET /channels/{channelId}/variable", "getChannelVar", variable, { query: "variable", answers: "Variable" })
]
