/** All of /channels except external media: originate, list, hang up, DTMF, playback, recording, variables. */
import { randomUUID } from "node:crypto"
import type { Channel } from "./Channel.ts"
import { type AriRequest, type Asterisk, AriRefusal, channelOf, nothing, ok, refuse, type Route, stringsOf } from "./Route.ts"

const longestId = 149
const defaultTimeoutSeconds = 30
const playMillis = 1000
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

const play: Route["handle"] = (asterisk, { id, query, secondId }) => {
  const channel = inStasis(asterisk, id)
  const media = query.get("media") ?? refuse(400, "Media must be specified")
  const playback = {
    id: secondId || query.get("playbackId") || randomUUID(),
    media_uri: media,
    target_uri: `channel:${id}`,
    language: "en"
  }
  const tell = (type: string, state: string) => asterisk.applications.about(channel, type, () => ({ playback: { ...playback, state } }))
  channel.after(0, () => tell("PlaybackStarted", "playing"))
  channel.after(playMillis * asterisk.scale, () => tell("PlaybackFinished", "done"))
  return { status: 201, body: { ...playback, state: "queued" } }
}

const record: Route["handle"] = (asterisk, { id, query }) => {
  const channel = inStasis(asterisk, id)
  if (channel.bridge !== undefined) return refuse(409, "Channel currently in a bridge")
  const name = query.get("name") ?? refuse(400, "Recording name must be specified")
  const recording = { name, format: query.get("format") ?? "wav", target_uri: `channel:${id}` }
  const seconds = Number(query.get("maxDurationSeconds") ?? 0)
  const tell = (type: string, state: string) => asterisk.applications.about(channel, type, () => ({ recording: { ...recording, state } }))
  channel.after(0, () => tell("RecordingStarted", "recording"))
  if (seconds > 0) channel.after(seconds * 1000 * asterisk.scale, () => tell("RecordingFinished", "done"))
  return { status: 201, body: { ...recording, state: "queued" } }
}

const originateQuery = [
  "endpoint",
  "extension",
  "context",
  "priority",
  "label",
  "app",
  "appArgs",
  "callerId",
  "timeout",
  "otherChannelId",
  "originator",
  "formats"
]

export const channelRoutes: ReadonlyArray<Route> = [
  { method: "GET", path: "/channels", nickname: "list", answers: "List[Channel]", handle: ({ channels }) => ok(channels.all()) },
  {
    method: "POST",
    path: "/channels",
    nickname: "originate",
    query: [...originateQuery, "channelId"],
    body: "variables",
    answers: "Channel",
    places: true,
    handle: originate
  },
  {
    method: "POST",
    path: "/channels/create",
    nickname: "create",
    query: ["endpoint", "app", "appArgs", "channelId", "otherChannelId", "originator", "formats"],
    body: "variables",
    answers: "Channel",
    places: true,
    handle: (asterisk, request) => {
      const channel = newChannel(asterisk, request)
      const shown = channel.toJSON()
      setImmediate(() => asterisk.calls.enterStasis(channel))
      return ok(shown)
    }
  },
  {
    method: "GET",
    path: "/channels/{channelId}",
    nickname: "get",
    answers: "Channel",
    handle: (asterisk, { id }) => ok(channelOf(asterisk, id))
  },
  {
    method: "POST",
    path: "/channels/{channelId}",
    nickname: "originateWithId",
    query: originateQuery,
    body: "variables",
    answers: "Channel",
    places: true,
    handle: originate
  },
  {
    method: "DELETE",
    path: "/channels/{channelId}",
    nickname: "hangup",
    query: ["reason_code", "reason"],
    handle: (asterisk, { id, query }) => {
      const channel = channelOf(asterisk, id)
      const cause = causeOf(query)
      setImmediate(() => asterisk.calls.hangUp(channel, cause))
      return nothing
    }
  },
  {
    method: "POST",
    path: "/channels/{channelId}/dial",
    nickname: "dial",
    query: ["caller", "timeout"],
    handle: (asterisk, { id, query, receivedAt }) => {
      const channel = channelOf(asterisk, id)
      if (channel.dialled || channel.state !== "Down") return refuse(409, "Channel is already being dialed")
      void asterisk.calls.dial(channel, timeoutSeconds(query), receivedAt)
      return nothing
    }
  },
  {
    method: "POST",
    path: "/channels/{channelId}/continue",
    nickname: "continueInDialplan",
    query: ["context", "extension", "priority", "label"],
    handle: (asterisk, { id, query }) => {
      const channel = inStasis(asterisk, id)
      const [context, exten, priority] = [
        query.get("context") ?? "default",
        query.get("extension") ?? "s",
        Number(query.get("priority") ?? 1)
      ]
      setImmediate(() => {
        if (channel.ended) return
        asterisk.calls.leaveStasis(channel)
        asterisk.dialplan.run(channel, context, exten, priority)
      })
      return nothing
    }
  },
  {
    method: "POST",
    path: "/channels/{channelId}/answer",
    nickname: "answer",
    handle: (asterisk, { id }) => {
      inStasis(asterisk, id)
      return nothing
    }
  },
  {
    method: "POST",
    path: "/channels/{channelId}/dtmf",
    nickname: "sendDTMF",
    query: ["dtmf", "before", "between", "duration", "after"],
    handle: (asterisk, { id, query }) => {
      inStasis(asterisk, id)
      asterisk.log.press(id, query.get("dtmf") ?? refuse(400, "DTMF must be specified"))
      return nothing
    }
  },
  {
    method: "POST",
    path: "/channels/{channelId}/play",
    nickname: "play",
    query: ["media", "lang", "playbackId"],
    answers: "Playback",
    handle: play
  },
  {
    method: "POST",
    path: "/channels/{channelId}/play/{playbackId}",
    nickname: "playWithId",
    query: ["media", "lang"],
    answers: "Playback",
    handle: play
  },
  {
    method: "POST",
    path: "/channels/{channelId}/record",
    nickname: "record",
    query: ["name", "format", "maxDurationSeconds", "maxSilenceSeconds", "ifExists", "beep", "terminateOn"],
    answers: "LiveRecording",
    handle: record
  },
  {
    method: "GET",
    path: "/channels/{channelId}/variable",
    nickname: "getChannelVar",
    query: ["variable"],
    answers: "Variable",
    handle: (asterisk, { id, query }) => {
      const channel = channelOf(asterisk, id)
      const name = query.get("variable") ?? refuse(400, "Variable name is required")
      const [, context, priority] = /^DIALPLAN_EXISTS\(([^,]*),[^,]*,(\d+)\)$/.exec(name) ?? []
      if (context !== undefined) return ok({ value: asterisk.dialplan.has(context, Number(priority)) ? "1" : "0" })
      const value = channel.variables[name] ?? channel.channelvars?.[name]
      return value === undefined ? refuse(404, "Provided variable was not found") : ok({ value })
    }
  },
  {
    method: "POST",
    path: "/channels/{channelId}/variable",
    nickname: "setChannelVar",
    query: ["variable", "value"],
    handle: (asterisk, { id, query }) => {
      const name = query.get("variable") ?? refuse(400, "Variable name is required")
      asterisk.calls.setVariable(channelOf(asterisk, id), name, query.get("value") ?? "")
      return nothing
    }
  }
]
