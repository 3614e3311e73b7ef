/**
 * Logs. An entry is a fixed message with data as annotations. No phone number, transcript or credential may be logged; one that is passed anyway
 * is masked here, by its name or its form.
 */
import { Cause, Effect, Layer, Logger, Redacted, References } from "effect"
import { Config, type Settings } from "#runtime/config/config.ts"

const masked = "<redacted>"
const secretName =
  /phone|callee|password|passwd|secret|token|authorization|cookie|credential|api_?key|private_?key|transcript|greeting|digits|context|^body$/i
// E.164 numbers, the credentials in a URL, and authorization headers.
const secretText = /\+\d{7,15}\b|(?<=:\/\/)[^\s/@]+(?=@)|(?<=\b(?:bearer|basic) )[\w+/=.~-]{8,}/gi
const maxDepth = 4

const snake = (name: string): string => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)

/** A copy of `value` in which everything that must not be printed is masked. */
const redact = (value: unknown, depth = 0): unknown => {
  if (typeof value === "string") return value.replace(secretText, masked)
  if (typeof value === "bigint") return String(value)
  if (typeof value !== "object" || value === null) return value
  if (Redacted.isRedacted(value)) return masked
  if (value instanceof Date) return value.toISOString()
  if (value instanceof Error) return redact(value.message)
  if (depth === maxDepth) return "..."
  if (Array.isArray(value)) return value.map((item) => redact(item, depth + 1))
  return Object.fromEntries(
    Object.entries(value).map(([name, inner]) => [name, secretName.test(snake(name)) ? masked : redact(inner, depth + 1)])
  )
}

const levels = {
  Fatal: "FATAL",
  Error: "ERROR",
  Warn: "WARN ",
  Info: "INFO ",
  Debug: "DEBUG",
  Trace: "TRACE",
  All: "ALL  ",
  None: "NONE "
} as const

const isFields = (part: unknown): part is Readonly<Record<string, unknown>> =>
  typeof part === "object" && part !== null && !Array.isArray(part)

/** The printed fields of an entry, in order. An object in `Effect.logInfo(message, { name: value })` is treated like annotations. */
const entryOf = ({ cause, date, fiber, logLevel, message }: Logger.Options<unknown>) => {
  const parts = Array.isArray(message) ? message : [message]
  const [first, ...rest] = parts.map((part) => redact(part))
  const annotations = redact(fiber.getRef(References.CurrentLogAnnotations))
  const others = rest.filter((part) => !isFields(part))
  const said = { time: date.toISOString(), level: logLevel, message: typeof first === "string" ? first : JSON.stringify(first) }
  const named: Record<string, unknown> = Object.assign({}, isFields(annotations) ? annotations : {}, ...rest.filter(isFields))
  // `said` is assigned twice: first to set the order, and again so that data with the same names does not replace it.
  return Object.assign({ ...said }, named, said, {
    ...(others.length > 0 ? { data: others } : {}),
    ...(cause.reasons.length > 0 ? { cause: redact(Cause.pretty(cause)) } : {})
  })
}

export const json: Logger.Logger<unknown, string> = Logger.make((options) => JSON.stringify(entryOf(options)))

/** Prints `12:30:01.123 INFO  message  name=value`, then the cause. */
export const pretty: Logger.Logger<unknown, string> = Logger.make((options) => {
  const { cause, level, message, time, ...data } = entryOf(options)
  const values = Object.entries(data).map(([name, value]) => `  ${name}=${typeof value === "string" ? value : JSON.stringify(value)}`)
  return `${time.slice(11, 23)} ${levels[level]} ${message}${values.join("")}${cause === undefined ? "" : `\n${cause}`}`
})

const levelOf = { debug: "Debug", info: "Info", warn: "Warn", error: "Error" } as const

export const layerOf = ({ logFormat, logLevel }: Pick<Settings, "logFormat" | "logLevel">) => {
  const format = logFormat ?? (process.stdout.isTTY ? "pretty" : "json")
  return Layer.merge(
    Logger.layer([Logger.withConsoleLog(format === "pretty" ? pretty : json)]),
    Layer.succeed(References.MinimumLogLevel, levelOf[logLevel])
  )
}
export const layer = Layer.unwrap(Effect.map(Config, layerOf))
