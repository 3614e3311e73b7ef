/** Time-limited credentials of the operator's TURN servers, as TURN REST describes them. */
import Type, { type Static } from "typebox"
import type { TurnCredentials } from "#core/call/TurnServers.ts"

export const TurnCredentialsWire = Type.Object(
  {
    username: Type.String({ description: "When they expire, in seconds since the epoch, and whose they are." }),
    password: Type.String(),
    ttl: Type.Integer({ description: "Seconds until they expire." }),
    uris: Type.Array(Type.String())
  },
  { title: "TurnCredentials" }
)

export const turnCredentialsWire = ({ password, ttlSeconds, urls, username }: TurnCredentials): Static<typeof TurnCredentialsWire> => ({
  username,
  password,
  ttl: ttlSeconds,
  uris: [...urls]
})
