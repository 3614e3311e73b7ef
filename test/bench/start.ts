/**
 * How soon an engine is ready after its process was started, as seen over HTTP, and how much memory it takes when idle. Times are medians of
 * several starts, alternating with starts of the control.
 */
import { Effect, Layer } from "effect"
import { execFileSync } from "node:child_process"
import { request } from "node:http"
import { createServer } from "node:net"
import { join } from "node:path"
import { EmbeddedPostgres } from "#runtime/postgres/EmbeddedPostgres.ts"
import type { Benchmark, Options } from "./Benchmark.ts"
import { type Child, startChild } from "./Child.ts"
import { newFolder, startDatabase } from "./Database.ts"
import { startEmulator } from "./Emulator.ts"
import { environmentOf, prepare, startEngine } from "./Engine.ts"
import { quantile } from "./Figure.ts"

const startsOf = ({ quick }: Options) => (quick ? 1 : 7)
const restMillisOf = ({ quick }: Options) => (quick ? 1000 : 15_000)
const POLL = "2 millis"
const answerMillis = 1000
const TIMEOUT = "60 seconds"

const engineFile = "../../runtime/start.js"
const bareFile = "bareServer.js"
const common = { ADAPTERS: "ari", DRAIN: "0", HEARING: "off", HOST: "127.0.0.1", LOG_FORMAT: "json", NODE_NAME: "bench" }

const freePort = Effect.callback<number>((resume) => {
  const server = createServer()
  server.listen(0, "127.0.0.1", () => {
    const address = server.address()
    server.close(() => resume(Effect.succeed(typeof address === "object" && address !== null ? address.port : 0)))
  })
})

const isReady = (port: number) =>
  Effect.callback<boolean>((resume) => {
    const asked = request({ port, host: "127.0.0.1", path: "/api/v1/health/ready", agent: false, timeout: answerMillis }, (response) => {
      response.resume()
      resume(Effect.succeed(response.statusCode === 200))
    })
    asked.on("timeout", () => asked.destroy())
    asked.on("error", () => resume(Effect.succeed(false)))
    asked.end()
  })

/** Starts a process, and waits until it is ready. */
const timed = Effect.fnUntraced(function* (file: string, settings: Readonly<Record<string, string>>) {
  const port = yield* freePort
  const began = performance.now()
  const child = yield* startChild({ file, environment: environmentOf({ ...settings, PORT: String(port) }) })
  yield* Effect.repeat(Effect.delay(isReady(port), POLL), { until: (ready) => ready }).pipe(Effect.timeout(TIMEOUT), Effect.orDie)
  return { child, readyMillis: performance.now() - began }
})

const readyMillis = (file: string, settings: Readonly<Record<string, string>>) =>
  Effect.scoped(Effect.map(timed(file, settings), (started) => started.readyMillis))

const onRunning = Effect.fnUntraced(function* (options: Options) {
  const { folder, url } = yield* startDatabase()
  const settings = { ...common, DATA_DIR: folder, DATABASE_URL: url }
  // The first one builds itself, and migrates the schema.
  yield* readyMillis(engineFile, settings)
  const engine: Array<number> = []
  const bare: Array<number> = []
  for (let starts = 0; starts < startsOf(options); starts++) {
    engine.push(yield* readyMillis(engineFile, settings))
    bare.push(yield* readyMillis(bareFile, settings))
  }
  return { engine, bare }
}, Effect.scoped)

const postgresAlone = Effect.fnUntraced(function* (folder: string) {
  const began = performance.now()
  yield* Layer.build(EmbeddedPostgres.layer({ folder }))
  return performance.now() - began
}, Effect.scoped)

const onEmbedded = Effect.fnUntraced(function* (options: Options) {
  const folder = yield* newFolder
  const ready = readyMillis(engineFile, { ...common, DATA_DIR: folder })
  yield* ready
  const engine: Array<number> = []
  const alone: Array<number> = []
  for (let starts = 0; starts < startsOf(options); starts++) {
    engine.push(yield* ready)
    alone.push(yield* postgresAlone(join(folder, "postgres")))
  }
  return { engine, alone }
}, Effect.scoped)

const residentMegabytes = ({ pid }: Child): number =>
  (Number(execFileSync("ps", ["-o", "rss=", "-p", String(pid)], { encoding: "utf8" })) * 1024) / 1e6

/** An engine that has been restarted, with a trunk that is up and nothing to do. */
const atRest = Effect.fnUntraced(function* (options: Options) {
  const database = yield* startDatabase()
  const emulator = yield* startEmulator({ media: false })
  yield* Effect.scoped(Effect.flatMap(startEngine(database), (engine) => prepare(engine, emulator)))
  const engine = yield* startEngine(database)
  const bare = yield* timed(bareFile, { DATABASE_URL: database.url })
  yield* Effect.sleep(restMillisOf(options))
  return { engine: residentMegabytes(engine.child), bare: residentMegabytes(bare.child) }
}, Effect.scoped)

const median = (values: ReadonlyArray<number>) => quantile(values, 0.5)

export const start: Benchmark = {
  name: "start",
  run: (options) =>
    Effect.gen(function* () {
      const running = yield* onRunning(options)
      const embedded = yield* onEmbedded(options)
      const rest = yield* atRest(options)
      return [
        {
          name: "start: ready on a database that runs (control: HTTP server and one connection)",
          value: median(running.engine),
          unit: "ms",
          goal: { atMost: 1000 },
          control: median(running.bare)
        },
        {
          name: "start: ready on the embedded Postgres (control: that Postgres alone)",
          value: median(embedded.engine),
          unit: "ms",
          goal: { atMost: 2500 },
          control: median(embedded.alone)
        },
        {
          name: "start: resident memory at rest, a trunk up (control: HTTP server and one connection)",
          value: rest.engine,
          unit: "MB",
          goal: { atMost: 140 },
          control: rest.bare
        }
      ]
    }).pipe(Effect.orDie)
}
