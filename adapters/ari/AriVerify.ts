/**
 * Tests whether calls could be placed through an Asterisk, step by step: does it answer, does it accept the credentials, may the user act, does it
 * send events, does it have the modules and the trunk. It uses a Stasis application of its own, so that a live trunk keeps its events.
 */
import { Effect, type Scope } from "effect"
import type { Egress } from "#core/egress/Egress.ts"
import type { Check, VerifyContext } from "#core/provider/Adapter.ts"
import type { Dialplan } from "./DialplanPlace.ts"
import { at, textAt } from "#adapters/shared/Json.ts"
import type { Reply } from "#adapters/shared/HttpClient.ts"
import { type AriRequest, make as makeRest } from "./AriRest.ts"
import { authorizationOf, channelPath, isNoChannel, isSuccess, nameOf, nobody } from "./Asterisk.ts"
import type { EndpointSettings } from "./AriEndpoint.ts"
import { openWebSocket } from "./AriSocket.ts"
import type { TrunkSettings } from "./AriTrunk.ts"
import { whyFailed } from "#adapters/shared/whyFailed.ts"

const OLDEST_MAJOR = 20
const HANDSHAKE_TIMEOUT_MILLIS = 5000
/** Modules without which no call can be placed, followed or bridged. */
const neededModules = [
  "app_stasis.so",
  "res_stasis.so",
  "res_ari_applications.so",
  "res_ari_bridges.so",
  "res_ari_channels.so",
  "res_ari_events.so"
]

const passed = (name: string, message: string): Check => ({ name, result: "passed", message })
const warning = (name: string, message: string, advice: string): Check => ({ name, result: "warning", message, advice })
const failed = (name: string, message: string, advice: string): Check => ({ name, result: "failed", message, advice })

/** Undefined: there was no reply. */
type Ask = (request: AriRequest) => Effect.Effect<Reply | undefined>

/** Tests all endpoints; if there are several, each message begins with the endpoint's name. */
export const verifyAll = (all: ReadonlyArray<EndpointSettings>, context: VerifyContext) =>
  Effect.forEach(
    all,
    ({ settings }) => {
      const report = (check: Check) => context.report({ ...check, message: `${nameOf(settings.base)}: ${check.message}` })
      return verify(settings, all.length === 1 ? context : { ...context, report })
    },
    { concurrency: "unbounded", discard: true }
  )

const verify = Effect.fnUntraced(function* (settings: TrunkSettings, { egress, report }: VerifyContext) {
  const { base, dialplan, dialString, user } = settings
  const rest = yield* makeRest(base, authorizationOf(settings), egress)
  const info = yield* Effect.result(rest.send({ method: "GET", path: "/asterisk/info" }))
  const answer = info._tag === "Success" ? info.success : undefined
  const unreachable = info._tag === "Failure" ? notReached(info.failure.detail) : notAri(info.success)
  if (answer === undefined || unreachable !== undefined) return report(unreachable ?? notReached("no answer"))
  report(passed("connection", "Asterisk answers at the ARI endpoint."))
  if (answer.status === 401 || answer.status === 403) return report(refused(user, answer.status))
  report(passed("credentials", `Asterisk accepts the ARI user '${user}'.`))
  report(versionOf(answer))
  const ask: Ask = (request) => Effect.orElseSucceed(rest.send(request), () => undefined)
  report(rightsOf(user, yield* ask({ method: "DELETE", path: channelPath(nobody) })))
  report(yield* events(settings, egress))
  const modules = yield* ask({ method: "GET", path: "/asterisk/modules" })
  for (const check of modulesOf(modules)) report(check)
  if (dialplan !== undefined) report(dialplanOf(dialplan, modules))
  const endpoint = endpointIn(dialString)
  if (endpoint !== undefined)
    report(endpointOf(endpoint, yield* ask({ method: "GET", path: `/endpoints/PJSIP/${encodeURIComponent(endpoint)}` })))
})

const notReached = (detail: string): Check =>
  failed(
    "connection",
    `Asterisk could not be reached at the ARI endpoint: ${detail}.`,
    "Check `ari_endpoint`, that http.conf has `enabled = yes` and a `bindaddr` that this engine reaches, and the firewall between them."
  )

const notAri = (reply: Reply): Check | undefined => {
  const isAri = reply.status === 401 || reply.status === 403 || textAt(reply.body, "status", "startup_time") !== undefined
  if (isAri) return undefined
  return failed(
    "connection",
    `What answers at the ARI endpoint is not ARI (HTTP ${reply.status}).`,
    "Check the port and, if http.conf sets one, the `prefix` in `ari_endpoint`; ari.conf needs `enabled = yes`."
  )
}

const refused = (user: string, status: number): Check =>
  failed(
    "credentials",
    `Asterisk refuses the ARI user '${user}' or its password (HTTP ${status}).`,
    "`app_name` is the name of a section of ari.conf with `type = user`, and `app_password` its `password`; `ari show users` lists the names."
  )

const versionOf = ({ body }: Reply): Check => {
  const version = textAt(body, "system", "version")
  const major = Number(/(?:^|-|\/)(\d+)\./.exec(version ?? "")?.[1] ?? Number.NaN)
  if (version === undefined || Number.isNaN(major))
    return warning("version", "Asterisk does not say which version it is.", `Asterisk ${OLDEST_MAJOR} or later is needed.`)
  return major >= OLDEST_MAJOR
    ? passed("version", `Asterisk ${version}.`)
    : failed("version", `Asterisk ${version} is too old.`, `Asterisk ${OLDEST_MAJOR} or later is needed.`)
}

/** The request was to end a channel that cannot exist: a user who may act is told that it does not. */
const rightsOf = (user: string, reply: Reply | undefined): Check => {
  if (reply !== undefined && isNoChannel(reply)) return passed("rights", "The ARI user may place and end calls.")
  return reply?.status === 401 || reply?.status === 403
    ? failed(
        "rights",
        `The ARI user may look but not act (HTTP ${reply.status}).`,
        `Set \`read_only = no\` in section [${user}] of ari.conf and reload it.`
      )
    : failed(
        "rights",
        `Could not determine whether the ARI user may act (${reply === undefined ? "no answer" : `HTTP ${reply.status}`}).`,
        "If there is a proxy in front of Asterisk, let it forward every method and every reply unchanged."
      )
}

const events = (settings: TrunkSettings, egress: Egress): Effect.Effect<Check> =>
  Effect.callback<Check>((resume) => {
    const { application, base } = settings
    const socket = openWebSocket({
      authorization: authorizationOf(settings),
      base,
      egress,
      handshakeMillis: HANDSHAKE_TIMEOUT_MILLIS,
      mostBytes: 64 * 1024,
      path: `/ari/events?app=${encodeURIComponent(`${application}.test`)}`
    })
    const end = (check: Check) => {
      resume(Effect.succeed(check))
      socket.terminate()
    }
    const none = (why: string) =>
      end(
        failed(
          "events",
          `Asterisk opens no websocket for events (${why}).`,
          "Load res_http_websocket.so and res_ari_events.so, and let a proxy in front of Asterisk forward websockets; http.conf's `session_limit` may be reached."
        )
      )
    socket.on("open", () => end(passed("events", "Asterisk opens a websocket for events.")))
    socket.on("unexpected-response", (request, { statusCode }) => {
      none(`HTTP ${statusCode}`)
      request.destroy()
    })
    // Terminating the socket before it is open causes an error event too.
    socket.on("error", (error: NodeJS.ErrnoException) => none(whyFailed(error, "the websocket broke")))
    return Effect.sync(() => socket.terminate())
  })

const modulesOf = (reply: Reply | undefined): ReadonlyArray<Check> => {
  if (reply === undefined || !isSuccess(reply) || !Array.isArray(reply.body))
    return [warning("modules", "Asterisk does not list its modules.", "Load res_ari_asterisk.so to have them checked here.")]
  const running = runningIn(reply.body)
  const missing = neededModules.filter((name) => !running.has(name))
  if (!running.has("bridge_softmix.so") && !running.has("bridge_simple.so")) missing.push("bridge_softmix.so")
  const needed =
    missing.length === 0
      ? passed("modules", "Asterisk has the modules that calls need.")
      : failed("modules", `Modules are missing: ${missing.join(", ")}.`, "Load them in modules.conf and restart Asterisk.")
  return [needed, mediaOf(running)]
}

const runningIn = (body: ReadonlyArray<unknown>): ReadonlySet<string | undefined> =>
  new Set(body.filter((one) => at(one, "status") === "Running").map((one) => textAt(one, "name")))

/** The dialplan itself can only be queried with a channel. */
const dialplanOf = ({ context }: Dialplan, modules: Reply | undefined): Check => {
  const running = modules !== undefined && Array.isArray(modules.body) ? runningIn(modules.body) : undefined
  return running?.has("func_dialplan.so") === true
    ? passed(
        "dialplan",
        `Answered calls enter the context '${context}' first; Asterisk is asked for it on each call. Place a test call to try it.`
      )
    : warning(
        "dialplan",
        `Answered calls enter the context '${context}' first, and Asterisk cannot be asked whether it exists: if it does not, every call is hung up when it is answered.`,
        "Load func_dialplan.so, and place a test call."
      )
}

const mediaOf = (running: ReadonlySet<string | undefined>): Check => {
  if (running.has("chan_websocket.so")) return passed("media", "Audio runs over a websocket to Asterisk.")
  return running.has("chan_rtp.so")
    ? warning(
        "media",
        "Asterisk has no websocket channel: audio runs over RTP.",
        "Load chan_websocket.so (Asterisk 20.16, 22.6 and later), or let UDP pass between Asterisk and this engine."
      )
    : failed("media", "Asterisk has neither chan_websocket.so nor chan_rtp.so: calls would be silent.", "Load one of them in modules.conf.")
}

/** The PJSIP endpoint in the dial string: what follows the @. */
const endpointIn = (dialString: string): string | undefined => /^PJSIP\/[^@]*@([^@/{}]+)$/i.exec(dialString.trim())?.[1]

const endpointOf = (name: string, reply: Reply | undefined): Check => {
  if (reply?.status === 404)
    return failed(
      "endpoint",
      `Asterisk has no PJSIP endpoint '${name}'.`,
      "`dial_string` names it after the @: use the name of an endpoint's section in pjsip.conf; `pjsip show endpoints` lists them."
    )
  if (reply === undefined || !isSuccess(reply))
    return warning(
      "endpoint",
      `Asterisk does not say whether it has the PJSIP endpoint '${name}'.`,
      "Load res_ari_endpoints.so to have it checked here."
    )
  return textAt(reply.body, "state") === "offline"
    ? warning(
        "endpoint",
        `The PJSIP endpoint '${name}' is offline.`,
        "See `pjsip show endpoint`: its registration, or the contact of its AOR."
      )
    : passed("endpoint", `Asterisk has the PJSIP endpoint '${name}'.`)
}

/** Reports that the configured address is not usable. */
export const notAnAddress = (context: VerifyContext, detail: string): Effect.Effect<void, never, Scope.Scope> =>
  Effect.sync(() => context.report(failed("connection", `${detail[0]?.toUpperCase()}${detail.slice(1)}.`, "Correct `ari_endpoint`.")))
