/** A gateway on a free port of this machine, for one test file, and a client that returns exactly what it received. */
import { Effect, Exit, Layer, Logger, References, Scope } from "effect"
import { request as httpRequest } from "node:http"
import { connect } from "node:net"
import type { Test } from "tap"
import { type GatewayOptions, serve } from "#gateway/api.ts"
import type { Route } from "#gateway/request/Route.ts"
import type { ListenFailed } from "#gateway/http/listening.ts"
import { Gateway } from "#gateway/http/Gateway.ts"
import { ServerInfo } from "#gateway/ports/ServerInfo.ts"
import { type Judge, judgeOf } from "./documented.ts"
import { readNetwork } from "#core/egress/Network.ts"
import { ApiKeys, InvalidApiKey } from "#core/organization/ApiKeys.ts"
import { AuditLog } from "#core/organization/AuditLog.ts"
import { InvalidToken } from "#core/organization/Tokens.ts"
import { Users } from "#core/organization/Users.ts"
import { ApiKeyId } from "#core/organization/Caller.ts"
import { OrganizationId } from "#core/Id.ts"

export const goodKey = "dgr_good"
const caller = { organizationId: OrganizationId.make(7), apiKeyId: ApiKeyId.make(3), role: "owner" } as const

/** Nobody has logged in, and nothing is written to the audit log. */
export const keys = Layer.mergeAll(
  Layer.mock(ApiKeys, {
    remembered: () => undefined,
    authenticate: (key) => (key === goodKey ? Effect.succeed(caller) : Effect.fail(new InvalidApiKey()))
  }),
  Layer.mock(Users, { isSignupOpen: true, authenticate: () => Effect.fail(new InvalidToken()) }),
  Layer.mock(AuditLog, { record: () => Effect.void })
)
export const site = ServerInfo.layer({ version: "9.9.9", urlOf: (port) => `http://127.0.0.1:${port}` })

interface Started {
  readonly port: number
  /** Checks answers against the OpenAPI document of its routes. */
  readonly judge?: Judge
  readonly stop: () => Promise<void>
}

/** Runs until the test ends, or until `stop`. */
export const started = async (t: Test, gateway: Layer.Layer<Gateway, ListenFailed>): Promise<Started> => {
  const scope = Scope.makeUnsafe()
  const context = await Effect.runPromise(Layer.buildWithScope(gateway, scope))
  const stop = () => Effect.runPromise(Scope.close(scope, Exit.void))
  t.teardown(stop)
  return { port: (await Effect.runPromise(Effect.provide(Gateway, context))).port, stop }
}

export interface Logged {
  readonly message: unknown
  readonly annotations: Readonly<Record<string, unknown>>
}

/**
 * Every answer is checked against its schema, and against the OpenAPI document of these routes. What is logged goes to `log`. No load is shed,
 * because the test runs on the same thread.
 */
export const serving = async (
  t: Test,
  routes: ReadonlyArray<Route<ServerInfo>>,
  options: Partial<GatewayOptions> = {},
  log: Array<Logged> = []
): Promise<Started> => {
  const logger = Logger.make(({ fiber, message }) => {
    log.push({ message: Array.isArray(message) ? message[0] : message, annotations: fiber.getRef(References.CurrentLogAnnotations) })
  })
  const gateway = serve(routes, { host: "127.0.0.1", port: 0, checksAnswers: true, shedsLoad: false, ...options })
  return { ...(await started(t, gateway.pipe(Layer.provide([keys, site, Logger.layer([logger])])))), judge: judgeOf(routes) }
}

export interface Answer {
  readonly status: number
  readonly headers: Readonly<Record<string, string | ReadonlyArray<string> | undefined>>
  readonly text: string
  readonly json: unknown
}

/** What an answer says, to compare it as a whole. */
export const said = ({ json, status }: Pick<Answer, "json" | "status">): readonly [status: number, json: unknown] => [status, json]

export interface Sent {
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string | Uint8Array
  /** Sent as a JSON body. */
  readonly json?: unknown
  readonly key?: string | null
}

/** The API behind a proxy on this machine, which says in `X-Forwarded-For` where requests come from. */
export const behindProxy = { trustedProxies: [readNetwork("127.0.0.1")].filter((one) => one !== undefined) }

/** A request with this token or key, as browsers send it. */
export const bearer = (credential: unknown): Sent => ({ key: null, headers: { authorization: `Bearer ${String(credential)}` } })

export const send = async (gateway: Pick<Started, "port" | "judge">, method: string, path: string, sent: Sent = {}): Promise<Answer> => {
  const answer = await asked(gateway, method, path, sent)
  const fault = gateway.judge?.(method, path, answer)
  if (fault !== undefined) throw new Error(`Not as documented: ${fault}`)
  return answer
}

const asked = ({ port }: { readonly port: number }, method: string, path: string, sent: Sent): Promise<Answer> =>
  new Promise((resolve, reject) => {
    const body = "json" in sent ? JSON.stringify(sent.json) : sent.body
    const key = sent.key === null ? {} : { "x-api-key": sent.key ?? goodKey }
    const type = "json" in sent ? { "content-type": "application/json" } : {}
    const request = httpRequest({ host: "127.0.0.1", port, method, path, headers: { ...key, ...type, ...sent.headers } }, (response) => {
      const chunks: Array<Buffer> = []
      const answer = { status: response.statusCode ?? 0, headers: response.headers }
      response.on("data", (chunk: Buffer) => {
        chunks.push(chunk)
        // The body would go on for as long as somebody reads it.
        if (response.headers["content-type"] !== "text/event-stream") return
        resolve({ ...answer, text: chunk.toString(), json: undefined })
        request.destroy()
      })
      response.on("error", reject)
      response.on("end", () => {
        const text = Buffer.concat(chunks).toString()
        const isJson = response.headers["content-type"]?.startsWith("application/json") === true && text !== ""
        resolve({ ...answer, text, json: isJson ? JSON.parse(text) : undefined })
      })
    })
    request.on("error", reject)
    request.end(body)
  })

/** Longer than any answer takes on a busy machine. */
const wordMillis = 300_000

/** Sends these bytes and returns what is received until the server closes the connection, or has added nothing to its answer for `quietMillis`. */
export const raw = ({ port }: { readonly port: number }, bytes: string, quietMillis = 300): Promise<string> =>
  new Promise((resolve) => {
    const socket = connect(port, "127.0.0.1", () => socket.write(bytes))
    const leave = () => socket.destroy()
    let timer = setTimeout(leave, wordMillis)
    let received = ""
    socket.on("data", (chunk) => {
      received += chunk.toString()
      clearTimeout(timer)
      timer = setTimeout(leave, quietMillis)
    })
    socket.on("error", () => {})
    socket.on("close", () => {
      clearTimeout(timer)
      resolve(received)
    })
  })

/** Sends these bytes, and disconnects before there is an answer, once `until` has settled. */
export const abandon = async ({ port }: { readonly port: number }, bytes: string, until: () => Promise<unknown>): Promise<void> => {
  const socket = connect(port, "127.0.0.1", () => socket.write(bytes))
  socket.on("error", () => {})
  await until()
  socket.destroy()
}
