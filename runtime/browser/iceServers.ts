/**
 * The STUN and TURN servers that the operator has named. Credentials of a TURN server are valid for a limited time: the user name is the time at
 * which they expire, and the password its HMAC-SHA1 with the secret that the server shares with us, as `use-auth-secret` of coturn expects.
 * https://datatracker.ietf.org/doc/html/draft-uberti-behave-turn-rest-00
 */
import { createHmac } from "node:crypto"
import { Redacted } from "effect"
import type { TurnCredentials } from "#core/call/TurnServers.ts"
import type { Settings } from "#runtime/config/config.ts"
import type { IceServer } from "./PeerMessages.ts"

const TTL_SECONDS = 86_400

type Servers = Pick<Settings, "stunUrls" | "turnSecret" | "turnUrls">

/** Undefined without a TURN server. `user`: named in the server's log. */
export const turnCredentials = (
  { turnSecret, turnUrls = [] }: Pick<Servers, "turnSecret" | "turnUrls">,
  user: string,
  now: number
): TurnCredentials | undefined => {
  if (turnSecret === undefined || turnUrls.length === 0) return undefined
  const username = `${Math.floor(now / 1000) + TTL_SECONDS}:${user}`
  const password = createHmac("sha1", Redacted.value(turnSecret)).update(username).digest("base64")
  return { username, password, ttlSeconds: TTL_SECONDS, urls: turnUrls }
}

/** What the engine itself asks for its own addresses. */
export const iceServersOf = (servers: Servers, now: number): ReadonlyArray<IceServer> => {
  const turn = turnCredentials(servers, "engine", now)
  return [
    ...(servers.stunUrls ?? []).map((urls) => ({ urls })),
    ...(turn === undefined ? [] : turn.urls.map((urls) => ({ urls, username: turn.username, credential: turn.password })))
  ]
}
