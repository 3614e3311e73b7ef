/**
 * What one request can take of the thread that all requests share: ten thousand bodies, as large as each route takes and made to be expensive, one after
 * another to every route that takes one, with a key that may do everything; files for the routes that take bytes; and expensive queries and paths. Beside
 * the worst body, parsing its bytes and nothing else.
 */
import { Console, Effect } from "effect"
import { Agent, request } from "node:http"
import ari from "#adapters/ari/ari.ts"
import { apiRoutes } from "#gateway/api.ts"
import type { Route } from "#gateway/request/Route.ts"
import type { Benchmark, Options } from "./Benchmark.ts"
import { bodiesOf } from "./bombs.ts"
import { mainSecondsOf } from "./Measures.ts"
import { startDatabase } from "./Database.ts"
import { createAgent, type Engine, startEngine } from "./Engine.ts"
import type { Figure } from "./Figure.ts"
import { headsOf } from "./hostileHeads.ts"
import { uploadsOf } from "./hostileUploads.ts"

const usualSeed = 20_261_122
const bodies = 10_000
/** The number of files and heads, as a share of the bodies. */
const others = 0.1
/** Requests that do not count: what the compiler does at first is not caused by a body. */
const warmUp = 500
/** Anything slower is sent again, and the fastest try counts: a body may have to wait for the garbage of those before it. */
const suspectMillis = 25
const tries = 4
const named = 10
const goalMillis = 50

interface Hostile {
  readonly method: string
  readonly path: string
  readonly text: string
  readonly contentType: string
  readonly made: string
}

interface Sent {
  readonly hostile: Hostile
  readonly millis: number
  readonly status: number
  readonly answerBytes: number
}

const send = (agent: Agent, { address }: Engine, { contentType, method, path, text }: Hostile) =>
  Effect.callback<Pick<Sent, "status" | "answerBytes">>((resume) => {
    const headers = { "content-type": contentType, "x-api-key": address.key, "content-length": Buffer.byteLength(text) }
    const outgoing = request({ agent, port: address.port, method: method.toUpperCase(), path, headers }, (response) => {
      let answerBytes = 0
      response.on("data", (part: Buffer) => {
        answerBytes += part.byteLength
        // Event streams stay open for as long as somebody listens.
        if (/event-stream/.test(response.headers["content-type"] ?? "")) response.destroy()
      })
      response.on("close", () => resume(Effect.succeed({ status: response.statusCode ?? 0, answerBytes })))
    })
    outgoing.on("error", (why) => resume(Effect.die(new Error(`${method} ${path.slice(0, 80)}: ${why.message}`))))
    outgoing.end(text)
  })

const measured = Effect.fnUntraced(function* (agent: Agent, engine: Engine, hostile: Hostile) {
  const before = yield* mainSecondsOf(engine.child)
  const answer = yield* send(agent, engine, hostile)
  const millis = ((yield* mainSecondsOf(engine.child)) - before) * 1000
  return { hostile, millis, ...answer }
})

const leastOf = Effect.fnUntraced(function* (agent: Agent, engine: Engine, hostile: Hostile) {
  let least: Sent = yield* measured(agent, engine, hostile)
  for (let again = 1; again < tries && least.millis > suspectMillis; again++) {
    const sent = yield* measured(agent, engine, hostile)
    if (sent.millis < least.millis) least = sent
  }
  return least
})

const parseMillis = (text: string): number => {
  const before = process.threadCpuUsage()
  try {
    JSON.parse(text)
  } catch {
    // Many are not JSON; all that is measured is reading them up to the point that shows it.
  }
  const { system, user } = process.threadCpuUsage(before)
  return (system + user) / 1000
}

const shown = ({ answerBytes, hostile: { made, method, path, text }, millis, status }: Sent): string =>
  `${millis.toFixed(1)} ms  ${method.toUpperCase()} ${path.slice(0, 60)}  ${made}  ${text.length} characters -> ${status}, ${answerBytes} bytes`

interface Worst {
  readonly sent: ReadonlyArray<Sent>
  readonly largest: number
}

/** Keeps only the worst, because all of them together take gigabytes. */
const worstOf = Effect.fnUntraced(function* (agent: Agent, engine: Engine, all: ReadonlyArray<() => Effect.Effect<Hostile>>) {
  const worst: Worst = { sent: [], largest: 0 }
  return yield* Effect.reduce(
    all,
    () => worst,
    Effect.fnUntraced(function* ({ largest, sent }, make) {
      const one = yield* leastOf(agent, engine, yield* make())
      return {
        sent: [...sent, one].toSorted((a, b) => b.millis - a.millis).slice(0, named),
        largest: Math.max(largest, one.answerBytes)
      }
    })
  )
})

const anything = (path: string): string => path.replaceAll(/:[a-z_]+/g, "1")

/** An upload address for a file: each works once. */
const addressFor = Effect.fnUntraced(function* (engine: Engine, { path }: Route<unknown>) {
  const file = { file_name: "list.csv", file_size: 1_000_000, content_type: "text/csv" }
  const document = { filename: "a.txt", mime_type: "text/plain", file_size: 1_000_000 }
  const answer = path.includes("resource")
    ? yield* engine.post("/knowledge-base/upload-url", document)
    : yield* engine.post("/s3/presigned-upload-url", file)
  const { pathname, search } = new URL(String(Reflect.get(Object(answer), "upload_url")))
  return `${pathname}${search}`
})

const requestsTo = (engine: Engine, count: number, seed: number) => {
  const routes = apiRoutes([ari])
  const json = bodiesOf(routes, count, seed).map((make) => () => {
    const { made, route, text } = make()
    return Effect.succeed<Hostile>({ method: route.method, path: anything(route.path), text, contentType: "application/json", made })
  })
  const files = uploadsOf(routes, Math.ceil(count * others), seed).map((make) =>
    Effect.fnUntraced(function* () {
      const { route, ...file } = make()
      return { ...file, method: route.method, path: yield* addressFor(engine, route) } satisfies Hostile
    })
  )
  const heads = headsOf(routes, Math.ceil(count * others), seed).map((make) => () => {
    const { made, path, route } = make()
    return Effect.succeed<Hostile>({ method: route.method, path, text: "", contentType: "application/json", made })
  })
  return { json, files, heads }
}

const measure = ({ count: wanted, quick, seed = usualSeed }: Options) =>
  Effect.gen(function* () {
    const engine = yield* startEngine(yield* startDatabase(), { file: "measuredMain.ts" })
    yield* createAgent(engine)
    const agent = yield* Effect.acquireRelease(
      Effect.sync(() => new Agent({ keepAlive: true, maxSockets: 1 })),
      (opened) => Effect.sync(() => opened.destroy())
    )
    const count = wanted ?? (quick ? 500 : bodies)
    const { files, heads, json } = requestsTo(engine, count, seed)
    for (const make of json.slice(0, quick ? 100 : warmUp)) yield* send(agent, engine, yield* make())
    const figures: Array<Figure> = []
    let largest = 0
    for (const [name, all] of [
      ["bodies", json],
      ["files", files],
      ["queries and paths", heads]
    ] as const) {
      const worst = yield* worstOf(agent, engine, all)
      yield* Console.error(worst.sent.map(shown).join("\n"))
      const [first] = worst.sent
      largest = Math.max(largest, worst.largest)
      figures.push({
        name: `hostile ${name}, the worst of ${all.length.toLocaleString("en")}`,
        value: first?.millis ?? Number.NaN,
        unit: "ms CPU",
        goal: { atMost: goalMillis },
        ...(name === "bodies" ? { control: parseMillis(first?.hostile.text ?? "") } : {})
      })
    }
    return [...figures, { name: "hostile requests, largest answer", value: largest / 1024, unit: "KiB" }]
  }).pipe(Effect.scoped)

export const hostileBodies: Benchmark = { name: "hostile-bodies", run: measure }
