/** The settings of traces. They use OpenTelemetry's own names, which an operator who exports traces has set before. */
import { Redacted, Schema } from "effect"
import { mapped, number, optional, required, text, url } from "./Variable.ts"

const pair = "[\\w!#$%&'*+.^`|~-]+=[\\x21-\\x2b\\x2d-\\x7e]+"
const pairs = new RegExp(`^ *${pair}(?: *, *${pair})* *$`)
/** Every `%` starts the code of a character that is allowed in a header. */
const decodable = /^(?:[^%]|%[2-6][0-9a-f]|%7[0-9a-e])*$/i

const headersOf = (value: string): Readonly<Record<string, string>> =>
  Object.fromEntries(
    value.split(",").map((one) => {
      const [name = "", ...rest] = one.trim().split("=")
      return [name.toLowerCase(), decodeURIComponent(rest.join("="))]
    })
  )

export const traceVariables = {
  tracesUrl: optional(
    mapped(url("http:", "https:").check(Schema.isPattern(/^[^?#@]*$/)), Schema.String, (value) => `${value.replace(/\/+$/, "")}/v1/traces`),
    {
      name: "OTEL_EXPORTER_OTLP_ENDPOINT",
      description:
        "An OpenTelemetry collector that gets the traces of requests, calls and webhooks, by OTLP over HTTP in JSON, at `/v1/traces` below this address. Default: no traces.",
      allowed: "an http:// or https:// address without user, password and query",
      secret: true
    }
  ),
  tracesHeaders: optional(
    mapped(text(pairs).check(Schema.isPattern(decodable)), Schema.Redacted(Schema.Record(Schema.String, Schema.String)), (value) =>
      Redacted.make(headersOf(value))
    ),
    {
      name: "OTEL_EXPORTER_OTLP_HEADERS",
      description: "Headers of the requests to the collector, such as its key: comma-separated `name=value`, with values percent-encoded.",
      allowed: "pairs such as api-key=secret, separated by commas, with values percent-encoded",
      secret: true
    }
  ),
  tracesRatio: required(number(0, 1), {
    name: "OTEL_TRACES_SAMPLER_ARG",
    default: "1",
    description:
      "Share of the traces that are exported, from `0` to `1`: all or nothing of each. A request whose `traceparent` says whether it is traced is not counted: its client has decided.",
    allowed: "a number from 0 to 1"
  })
} as const
