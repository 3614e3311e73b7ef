/** ARI over HTTP: JSON below `/ari`. */
import { Effect, type Scope } from "effect"
import { type HttpClient, type HttpRequest, makeHttpClient, pathUnder } from "#adapters/shared/HttpClient.ts"
import type { Egress } from "#core/egress/Egress.ts"

export interface AriRequest extends Pick<HttpRequest, "leave" | "maxBytes" | "method"> {
  /** The path below `/ari`. */
  readonly path: string
  readonly query?: Readonly<Record<string, string>>
  readonly body?: object
}

/** See `HttpClient`. */
export interface AriRest {
  readonly send: (request: AriRequest) => ReturnType<HttpClient["send"]>
  readonly place: (request: AriRequest, settled: Parameters<HttpClient["place"]>[1]) => ReturnType<HttpClient["place"]>
  readonly renewConnections: () => void
}

/**
 * Asterisk closes a connection after it was idle for 15 s. Each connection counts against its `sessionlimit`, 100 by default. It answers within
 * milliseconds, or seconds under full load.
 */
const limits = { idleMillis: 5_000, maxSockets: 32, silenceMillis: 3_000 }

/** `base`: the URL of Asterisk's HTTP server, with its prefix if it has one. */
export const make = (base: URL, authorization: string, egress: Egress): Effect.Effect<AriRest, never, Scope.Scope> =>
  Effect.map(makeHttpClient({ ...limits, authorization, base, egress }), (client) => ({
    place: (request, settled) => client.place(httpRequestOf(base, request), settled),
    renewConnections: client.renewConnections,
    send: (request) => client.send(httpRequestOf(base, request))
  }))

const httpRequestOf = (base: URL, { body, path, query, ...request }: AriRequest): HttpRequest => ({
  ...request,
  path: pathUnder(base, `/ari${path}${query === undefined ? "" : `?${new URLSearchParams(query).toString()}`}`),
  ...(body === undefined ? {} : { body: { mediaType: "application/json", text: JSON.stringify(body) } })
})
