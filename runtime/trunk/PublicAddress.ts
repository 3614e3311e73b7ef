/**
 * Whether this engine's public addresses lead to it. Otherwise carriers would call people who hear nothing, because neither reports nor audio would
 * arrive: a proxy may not pass on what carriers send, or the name may lead elsewhere. The engine asks itself, once in its life, before the first
 * trunk of a hosted carrier is up, and until it gets its own answer.
 */
import { Context, Effect, FiberSet, Layer } from "effect"
import { randomBytes } from "node:crypto"
import WebSocket from "ws"
import type { TrunkStatus } from "#core/provider/Adapter.ts"
import { Config } from "#runtime/config/config.ts"
import { type Addresses, CallbackAddresses, PROBED_CALL, PROBED_KIND, UNCONFIGURED } from "./CallbackAddresses.ts"

/** An answer takes no longer, and the engine may have begun to listen only now. */
const ANSWER_MILLIS = 5000
const PAUSES_MILLIS = [200, 500, 1000, 2000, 5000, 10_000, 30_000] as const
/** Failures that are reported: before, the engine itself may not listen yet. */
const FAILURES_TO_REPORT = 3

/** Passes the status of a trunk on to `report`, as `Up` only once the addresses lead here. */
type Guard = (report: (status: TrunkStatus) => void) => (status: TrunkStatus) => void

/** Without the layer below, the addresses are not checked. */
export const PublicAddress = Context.Reference<Guard>("runtime/trunk/PublicAddress", { defaultValue: () => (report) => report })

export const layer = Layer.effect(
  PublicAddress,
  Effect.gen(function* () {
    const { publicUrlCheck } = yield* Config
    const addresses = yield* CallbackAddresses
    const run = yield* FiberSet.makeRuntime()
    if (!publicUrlCheck || addresses.urlOf === undefined) return (report) => report
    return guardOf(new Reached(), (reached) => void run(untilReached(addresses, reached)))
  })
)

const guardOf = (reached: Reached, begin: (reached: Reached) => void): Guard => {
  let hasBegun = false
  return (report) => {
    if (!hasBegun) begin(reached)
    hasBegun = true
    let own: TrunkStatus = { _tag: "Connecting" }
    const tell = () => report(own._tag === "Up" ? reached.status : own)
    reached.listen(tell)
    return (status) => {
      own = status
      tell()
    }
  }
}

/** What is known about the addresses, as the status of a trunk that is otherwise up. */
class Reached {
  status: TrunkStatus = { _tag: "Connecting" }
  #listeners: Array<() => void> = []

  listen(listener: () => void): void {
    if (this.status._tag !== "Up") this.#listeners.push(listener)
  }

  set(status: TrunkStatus): void {
    this.status = status
    const told = this.#listeners
    if (status._tag === "Up") this.#listeners = []
    for (const tell of told) tell()
  }
}

const untilReached = Effect.fnUntraced(function* (addresses: Addresses, reached: Reached) {
  for (let failures = 1; ; failures++) {
    const trouble = yield* Effect.promise((signal) => troubleWith(addresses, signal))
    if (trouble === undefined) return reached.set({ _tag: "Up" })
    if (failures >= FAILURES_TO_REPORT) reached.set({ _tag: "Down", reason: "unheard", detail: `${trouble} ${advice}` })
    yield* Effect.sleep(PAUSES_MILLIS[Math.min(failures, PAUSES_MILLIS.length) - 1] ?? 0)
  }
})

const advice =
  "Nothing is dialed, because carriers' reports and audio would not arrive either. If only this machine cannot reach the address, set PUBLIC_URL_CHECK=off."

/** In a sentence. Undefined: both addresses lead here. */
const troubleWith = async (addresses: Addresses, signal: AbortSignal): Promise<string | undefined> => {
  const nonce = randomBytes(16).toString("hex")
  const callback = `${addresses.urlOf?.({ callId: undefined, configurationId: UNCONFIGURED, kind: PROBED_KIND })}?${nonce}`
  const within = AbortSignal.any([signal, AbortSignal.timeout(ANSWER_MILLIS)])
  const asked = await ask(callback, addresses.proofOf(nonce), within)
  if (asked !== undefined) return `Requests to PUBLIC_URL do not reach this engine (${asked}).`
  const opened = await open(addresses.mediaUrlOf?.(PROBED_CALL) ?? "", addresses.proofOf(PROBED_CALL))
  return opened === undefined ? undefined : `Websockets do not reach this engine at PUBLIC_URL, or at MEDIA_URL if that is set (${opened}).`
}

/** The error's message may quote the address. */
const codeOf = (error: unknown): string => (error instanceof Error && "code" in error ? String(error.code) : "no answer")

const OTHERS = "something else answers"

const ask = async (url: string, proof: string, signal: AbortSignal): Promise<string | undefined> => {
  try {
    const answer = await fetch(url, { redirect: "manual", signal })
    if (answer.status === 200 && (await answer.text()) === proof) return undefined
    await answer.body?.cancel()
    return answer.status === 200 ? OTHERS : `HTTP ${answer.status}`
  } catch (error) {
    if (signal.aborted) return "no answer in time"
    const { cause } = error instanceof Error ? error : { cause: undefined }
    return codeOf(cause)
  }
}

const open = (url: string, proof: string): Promise<string | undefined> =>
  new Promise((resolve) => {
    const socket = new WebSocket(url, { handshakeTimeout: ANSWER_MILLIS, perMessageDeflate: false })
    const settle = (trouble: string | undefined) => {
      clearTimeout(timer)
      resolve(trouble)
      socket.terminate()
    }
    const timer = setTimeout(() => settle("no answer in time"), ANSWER_MILLIS)
    socket.on("message", (data: Buffer) => settle(data.toString() === proof ? undefined : OTHERS))
    socket.on("unexpected-response", (_, { statusCode }) => settle(`HTTP ${statusCode}`))
    socket.on("error", (error) => settle(codeOf(error)))
    socket.on("close", () => settle("closed at once"))
  })
