/** Telnyx' API v2: JSON over HTTPS. */
import { Effect, type Scope } from "effect"
import { type HttpClient, makeHttpClient, type Outcome, pathUnder } from "#adapters/shared/HttpClient.ts"
import type { TrunkContext } from "#core/provider/Adapter.ts"

/** The final outcome of a request. */
type Asked = Effect.Effect<Outcome>

export interface TelnyxApi {
  readonly base: URL
  readonly get: (path: string, query?: Readonly<Record<string, string>>) => Asked
  readonly post: (path: string, body: object) => Asked
  /** Sends a dial, once. `settled` gets the final outcome, which may come after we have stopped waiting. */
  readonly dial: (body: object, leave: () => boolean, settled: Parameters<HttpClient["place"]>[1]) => Asked
}

/** How long Telnyx keeps an idle connection is not documented. */
const limits = { idleMillis: 5_000, maxSockets: 32, silenceMillis: 5_000 }

export const makeApi = (
  apiKey: string,
  { apiOrigin, egress }: Pick<TrunkContext, "apiOrigin" | "egress">
): Effect.Effect<TelnyxApi, never, Scope.Scope> => {
  const base = new URL("/v2", apiOrigin ?? "https://api.telnyx.com")
  // Other characters come from pasting, and could not be sent in a header.
  const authorization = `Bearer ${apiKey.replace(/[^!-~]/g, "")}`
  const json = (body: object) => ({ mediaType: "application/json", text: JSON.stringify(body) })
  const asked = (request: ReturnType<HttpClient["send"]>): Asked => Effect.catch(request, (failure) => Effect.succeed<Outcome>(failure))
  return Effect.map(makeHttpClient({ ...limits, authorization, base, egress }), (client) => ({
    base,
    get: (path, query = {}) => {
      const question = new URLSearchParams(query).toString()
      return asked(client.send({ method: "GET", path: pathUnder(base, question === "" ? path : `${path}?${question}`) }))
    },
    post: (path, body) => asked(client.send({ method: "POST", path: pathUnder(base, path), body: json(body) })),
    dial: (body, leave, settled) =>
      asked(
        client.place({ method: "POST", path: pathUnder(base, "/calls"), body: json(body), leave, waitHeader: "x-ratelimit-reset" }, settled)
      )
  }))
}

export const pathOf = (kind: "calls" | "call_control_applications" | "connections", id: string): string =>
  `/${kind}/${encodeURIComponent(id)}`
