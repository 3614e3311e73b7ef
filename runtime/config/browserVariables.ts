/** The settings of calls from browsers. */
import { Schema } from "effect"
import { canonicalAddress } from "#core/egress/IpAddress.ts"
import { mapped, optional, required, secret, text } from "./Variable.ts"

const isPort = (port: number): boolean => port >= 1024 && port <= 65_535
const rangeOf = (value: string): readonly [first: number, last: number] => {
  const [first = Number.NaN, last = Number.NaN] = value.split("-").map(Number)
  return [first, last]
}
const isRange = (value: string): boolean => {
  const [first, last] = rangeOf(value)
  return isPort(first) && isPort(last) && first < last
}

const urls = (schemes: string) => {
  const one = `(?:${schemes}):[A-Za-z0-9.-]+(?::\\d{1,5})?(?:\\?transport=(?:udp|tcp))?`
  return mapped(text(new RegExp(`^ *${one}(?: *, *${one})* *$`)), Schema.Array(Schema.String), (value) =>
    value.split(",").map((one) => one.trim())
  )
}

export const browserVariables = {
  webrtcAddress: required(Schema.String.check(Schema.makeFilter((value) => canonicalAddress(value) !== undefined)), {
    name: "WEBRTC_ADDRESS",
    default: "127.0.0.1",
    description:
      "IP address that receives the audio of calls from browsers, by UDP. By default only browsers on this machine can call; `0.0.0.0` uses all of its IPv4 addresses.",
    allowed: "an IP address"
  }),
  webrtcPorts: optional(
    mapped(text(/^\d{1,5}-\d{1,5}$/).check(Schema.makeFilter(isRange)), Schema.Tuple([Schema.Number, Schema.Number]), rangeOf),
    {
      name: "WEBRTC_PORTS",
      description: "UDP ports for the audio of calls from browsers, one for each call, to open in a firewall. Default: any that is free.",
      allowed: "two different ports from 1024 to 65535, such as 40000-40199"
    }
  ),
  stunUrls: optional(urls("stun"), {
    name: "STUN_URLS",
    description: "STUN servers that tell the engine its public address, for calls from browsers: comma-separated. Default: none is asked.",
    allowed: "addresses such as stun:stun.example.com:3478, separated by commas"
  }),
  turnUrls: optional(urls("turn|turns"), {
    name: "TURN_URLS",
    description: "Your TURN servers, which relay the audio of calls from browsers behind firewalls: comma-separated. Needs `TURN_SECRET`.",
    allowed: "addresses such as turn:turn.example.com:3478, separated by commas"
  }),
  turnSecret: optional(secret(text(/^[!-~]{16,200}$/)), {
    name: "TURN_SECRET",
    description:
      "The secret that the TURN servers share with the engine, which makes time-limited credentials with it (coturn's `static-auth-secret`).",
    allowed: "16 to 200 printable ASCII characters without spaces",
    secret: true
  })
}
