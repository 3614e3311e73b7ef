/**
 * What one request can take of the thread that all requests share: ten thousand bodies, as large as each route takes and made to be expensive, one after
 * another to every route that takes one, with a key that may do everything. Beside it, parsing the bytes of the worst one and nothing else.
 */
import { Console, Effect } from "effect"
import { Agent, request } from "node:http"
import ari from "#adapters/ari/ari.ts"
import { apiRoutes } from "#gateway/api.ts"
import type { Benchmark, Options } from "./Benchmark.ts"
import { bodiesOf, type HostileBody } from "./bombs.ts"
import { mainSecondsOf } from "./Cpu.ts"
import { startDatabase } from "./Database.ts"
import { type Engine, startEngine } from "./Engine.ts"

const seed = 20_261_122
const bodies = 10_000
/** Before it counts: what the compiler does on the first requests is not a body's doing. */
const warmUp = 500
/** What takes more is sent again, and the least counts: a body may have to wait for the garbage of those before it. */
const suspectMillis = 25
const tries = 3
const named = 10
const goalMillis = 50

interface Sent {
  readonly body: HostileBody
  readonly millis: number
  readonly status: number
  readonly answerBytes: number
}

const send = (agent: Agent, { address }: Engine, { route, text }: HostileBody) =>
  Effect.callback<Pick<Sent, "status" | "answerBytes">>((resume) => {
    const headers = { "content-type": "application/json", "x-api-key": address.key, "content-length": Buffer.byteLength(text) }
    const path = route.path.replaceAll(/:[a-z_]+/g, "1")
    const outgoing = request({ agent, port: address.port, method: route.method.toUpperCase(), path, headers }, (response) => {
      let answerBytes = 0
      response.on("data", (part: Buffer) => {
        answerBytes += part.byteLength
      })
      response.on("end", () => resume(Effect.succeed({ status: response.statusCode ?? 0, answerBytes })))
    })
    outgoing.on("error", (why) => resume(Effect.die(new Error(`${route.method} ${route.path}: ${why.message}`))))
    outgoing.end(text)
  })

const measured = Effect.fnUntraced(function* (agent: Agent, engine: Engine, body: HostileBody) {
  const before = yield* mainSecondsOf(engine.child)
  const answer = yield* send(agent, engine, body)
  const millis = ((yield* mainSecondsOf(engine.child)) - before) * 1000
  return { body, millis, ...answer }
})

const leastOf = Effect.fnUntraced(function* (agent: Agent, engine: Engine, body: HostileBody) {
  let least: Sent = yield* measured(agent, engine, body)
  for (let again = 1; again < tries && least.millis > suspectMillis; again++) {
    const sent = yield* measured(agent, engine, body)
    if (sent.millis < least.millis) least = sent
  }
  return least
})

const parseMillis = (text: string): number => {
  const before = process.threadCpuUsage()
  try {
    JSON.parse(text)
  } catch {
    // Many are no JSON; that they are looked at to where that shows is all that is measured.
  }
  const { system, user } = process.threadCpuUsage(before)
  return (system + user) / 1000
}

const shown = ({ answerBytes, body: { made, route, text }, millis, status }: Sent): string =>
  `${millis.toFixed(1)} ms  ${route.method.toUpperCase()} ${route.path}  ${made}  ${text.length} characters -> ${status}, ${answerBytes} bytes`

const measure = ({ quick }: Options) =>
  Effect.gen(function* () {
    const engine = yield* startEngine(yield* startDatabase(), { file: "gatewayMain.ts" })
    const graph = {
      nodes: [{ id: "1", type: "startCall", position: { x: 0, y: 0 }, data: { name: "Start", prompt: "Greet." } }],
      edges: []
    }
    yield* engine.post("/workflow/create/definition", { name: "Reminder", workflow_definition: graph })
    const agent = yield* Effect.acquireRelease(
      Effect.sync(() => new Agent({ keepAlive: true, maxSockets: 1 })),
      (opened) => Effect.sync(() => opened.destroy())
    )
    const count = quick ? 500 : bodies
    const made = bodiesOf(apiRoutes([ari]), count, seed)
    for (const make of made.slice(0, quick ? 100 : warmUp)) yield* send(agent, engine, make())
    // Only the worst are kept: all of them together are gigabytes.
    let worst: ReadonlyArray<Sent> = []
    let largest = 0
    for (const make of made) {
      const sent = yield* leastOf(agent, engine, make())
      largest = Math.max(largest, sent.answerBytes)
      const least = worst.at(-1)
      if (least === undefined || worst.length < named || sent.millis > least.millis) {
        worst = [...worst, sent].toSorted((a, b) => b.millis - a.millis).slice(0, named)
      }
    }
    yield* Console.error(worst.map(shown).join("\n"))
    const first = worst[0]
    return [
      {
        name: `hostile bodies, the worst of ${count.toLocaleString("en")}`,
        value: first?.millis ?? Number.NaN,
        unit: "ms CPU",
        goal: { atMost: goalMillis },
        control: parseMillis(first?.body.text ?? "")
      },
      { name: "hostile bodies, largest answer", value: largest / 1024, unit: "KiB" }
    ]
  }).pipe(Effect.scoped)

export const hostileBodies: Benchmark = { name: "hostile-bodies", run: measure }
