/** Telnyx' API v2: JSON over HTTPS. */
import { Effect, type Scope } from "effect"
import { type HttpClient, makeHttpClient, type Outcome, pathUnder } from "#adapters/shared/HttpClient.ts"
import type { TrunkContext } from "#core/provider/Adapter.ts"

type Send = ReturnType<HttpClient["send"]>

export interface TelnyxApi {
  readonly base: URL
  readonly get: (path: string, query?: Readonly<Record<string, string>>) => Send
  readonly post: (path: string, body: object) => Send
  /** Sends a dial, once. `settled` gets the final outcome, which may come after we have stopped waiting. */
  readonly dial: (body: object, leave: () => boolean, settled: (outcome: Outcome) => void) => ReturnType<HttpClient["place"]>
}

/** How long Telnyx keeps an idle connection is not documented. */
const limits = { idleMillis: 5_000, maxSockets: 32, silenceMillis: 5_000, waitHeader: "x-ratelimit-reset" }

export const makeApi = (
  apiKey: string,
  { apiOrigin, egress }: Pick<TrunkContext, "apiOrigin" | "egress">
): Effect.Effect<TelnyxApi, never, Scope.Scope> => {
  const base = new URL("/v2", apiOrigin ?? "https://api.telnyx.com")
  const json = (body: object) => ({ body: { mediaType: "application/json", text: JSON.stringify(body) } })
  // Other characters come from pasting, and could not be sent in a header.
  const authorization = `Bearer ${apiKey.replace(/[^!-~]/g, "")}`
  return Effect.map(makeHttpClient({ ...limits, authorization, base, egress }), (client) => ({
    base,
    get: (path, query) =>
      client.send({ method: "GET", path: pathUnder(base, query === undefined ? path : `${path}?${new URLSearchParams(query)}`) }),
    post: (path, body) => client.send({ method: "POST", path: pathUnder(base, path), ...json(body) }),
    dial: (body, leave, settled) => client.place({ method: "POST", path: pathUnder(base, "/calls"), ...json(body), leave }, settled)
  }))
}

export const callPath = (providerCallId: string): string => `/calls/${encodeURIComponent(providerCallId)}`
export const applicationPath = (connectionId: string): string => `/call_control_applications/${encodeURIComponent(connectionId)}`
export const activeCallsPath = (connectionId: string): string => `/connections/${encodeURIComponent(connectionId)}/active_calls`
