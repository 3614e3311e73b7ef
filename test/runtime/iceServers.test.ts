/** Credentials of TURN servers, and the servers that the engine itself asks. The passwords were computed by another program. */
import { Redacted } from "effect"
import t from "tap"
import { iceServersOf, turnCredentials } from "#runtime/browser/iceServers.ts"

const now = 1_700_000_000_999
const turn = { turnUrls: ["turn:a.example:3478", "turns:b.example"], turnSecret: Redacted.make("0123456789abcdef") }

t.test(
  "given a TURN server and its secret, then credentials are valid for a day, and are an HMAC of the time at which they expire",
  async (t) => {
    const username = "1700086400:organization-7"
    const expected = { username, password: "Rjugv3ldsjUPlsqoiwIXpJ78q8I=", ttlSeconds: 86_400, urls: turn.turnUrls }
    t.strictSame(turnCredentials(turn, "organization-7", now), expected)
    t.equal(turnCredentials({ turnUrls: undefined, turnSecret: undefined }, "organization-7", now), undefined)
  }
)

t.test("given what the operator has named, then the engine asks that and nothing else", async (t) => {
  const nothing = { stunUrls: undefined, turnUrls: undefined, turnSecret: undefined }
  t.strictSame(iceServersOf(nothing, now), [])
  const credentials = { username: "1700086400:engine", credential: "35eZhBwMl9d0wdBqECIb2Hi5OtI=" }
  t.strictSame(iceServersOf({ ...turn, stunUrls: ["stun:s.example"] }, now), [
    { urls: "stun:s.example" },
    { urls: "turn:a.example:3478", ...credentials },
    { urls: "turns:b.example", ...credentials }
  ])
})
