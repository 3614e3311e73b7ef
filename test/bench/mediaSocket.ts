/**
 * What the media websocket of a hosted carrier costs: calls whose carrier sends a frame every 20 ms, and gets it back through the gateway's socket
 * and the carrier's adapter, without an engine behind them. Twilio's is JSON with base64, Vonage's is binary. The control is uWebSockets alone,
 * which reads nothing of what it receives and sends as many bytes.
 */
import { Effect, type Scope } from "effect"
import { randomUUID } from "node:crypto"
import { once } from "node:events"
import { WebSocket } from "ws"
import { MEDIA_ROUTE } from "#core/provider/CarrierMedia.ts"
import type { Benchmark, Options } from "./Benchmark.ts"
import type { Figure } from "./Figure.ts"
import { allocatedDuring, cpuSecondsOf } from "./Measures.ts"
import { type Dialect, streamOf } from "./mediaFrames.ts"
import { startHelper } from "./Probe.ts"

const frameMillis = 20
const framesPerSecond = 1000 / frameMillis
/** Calls do not all send at the same moment, but in this many groups, one after another. */
const groups = 10
/** Time for the code to be compiled, and for initial work to be over. */
const WARM_UP = "3 seconds"
/** A server that returns fewer frames is not measured. */
const returnedAtLeast = 0.98

const planOf = ({ quick }: Options) => (quick ? { calls: 20, seconds: 2 } : { calls: 100, seconds: 10 })

interface Flow {
  readonly sent: () => number
  readonly returned: () => number
}

const connect = async (port: number): Promise<WebSocket> => {
  const path = MEDIA_ROUTE.replace(":call", randomUUID()).replace(":seal", "sealed")
  const socket = new WebSocket(`ws://127.0.0.1:${port}${path}`, { perMessageDeflate: false })
  await once(socket, "open")
  return socket
}

const carry = async (port: number, dialect: Dialect, calls: number): Promise<Flow & { readonly stop: () => void }> => {
  const sockets = await Promise.all(Array.from({ length: calls }, () => connect(port)))
  const { hello, next } = streamOf(dialect)
  let [sent, returned, turn] = [0, 0, 0]
  let frame: string | Buffer = ""
  for (const socket of sockets) {
    for (const message of hello) socket.send(message)
    socket.on("message", () => void returned++)
  }
  const began = performance.now()
  const speak = () => {
    for (const due = (performance.now() - began) / (frameMillis / groups); turn < due; turn++) {
      const group = turn % groups
      if (group === 0) frame = next()
      for (let call = group; call < calls; call += groups) sockets[call]?.send(frame)
      sent += Math.ceil((calls - group) / groups)
    }
  }
  const timer = setInterval(speak, 1)
  const stop = () => {
    clearInterval(timer)
    for (const socket of sockets) socket.terminate()
  }
  return { returned: () => returned, sent: () => sent, stop }
}

const carried = (port: number, dialect: Dialect, calls: number): Effect.Effect<Flow, never, Scope.Scope> =>
  Effect.acquireRelease(
    Effect.promise(() => carry(port, dialect, calls)),
    ({ stop }) => Effect.sync(stop)
  )

interface Cost {
  /** CPU milliseconds for each second of a call. */
  readonly cpuMillis: number
  /** The bytes allocated for a frame in each direction. */
  readonly bytes: number
}

const costOf = (options: Options, dialect: Dialect, serve: "gateway" | "bare") =>
  Effect.gen(function* () {
    const { calls, seconds } = planOf(options)
    const child = yield* startHelper("mediaSocketMain.ts")
    const { returned, sent } = yield* carried(yield* child.ask<number>({ serve, dialect }, "port"), dialect, calls)
    yield* Effect.sleep(WARM_UP)
    const before = { cpu: yield* cpuSecondsOf(child), returned: returned(), sent: sent() }
    const { bytes } = yield* allocatedDuring(child, Effect.sleep(`${seconds} seconds`))
    const cpu = (yield* cpuSecondsOf(child)) - before.cpu
    const frames = returned() - before.returned
    if (frames < returnedAtLeast * (sent() - before.sent)) {
      return yield* Effect.die(new Error(`${sent() - before.sent} frames were sent, ${frames} came back`))
    }
    // Counted by the frames returned, not by the clock: the machine may not have sent all in time.
    const cost: Cost = { cpuMillis: (1000 * cpu * framesPerSecond) / frames, bytes: bytes / frames }
    return cost
  }).pipe(Effect.scoped)

const figuresOf = Effect.fnUntraced(function* (options: Options, title: string, dialect: Dialect) {
  const control = yield* costOf(options, dialect, "bare")
  const ours = yield* costOf(options, dialect, "gateway")
  const figures: ReadonlyArray<Figure> = [
    { name: `media-socket, CPU of a call, ${title}`, value: ours.cpuMillis, unit: "ms/s", control: control.cpuMillis },
    {
      name: `media-socket, above the control for a frame each way, ${title}`,
      value: (1000 * (ours.cpuMillis - control.cpuMillis)) / framesPerSecond,
      unit: "µs"
    },
    { name: `media-socket, allocated for a frame each way, ${title}`, value: ours.bytes, unit: "bytes", control: control.bytes }
  ]
  return figures
})

export const mediaSocket: Benchmark = {
  name: "media-socket",
  run: Effect.fnUntraced(function* (options) {
    return [...(yield* figuresOf(options, "Twilio's JSON", "twilio")), ...(yield* figuresOf(options, "Vonage's binary", "vonage"))]
  })
}
