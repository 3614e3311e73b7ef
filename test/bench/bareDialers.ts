/**
 * The controls of `dispatch`, `slot-use` and `rate`: what the same emulator gives without an engine. No database, no rules, no record: the end
 * of a call leads straight to the next originate, or is discovered by polling once a second, or requests follow each other at a rate.
 */
import { Effect, type Scope } from "effect"
import { Agent, request } from "node:http"
import { WebSocket } from "ws"
import { preciseNow } from "#test/emulators/shared/CalleeLog.ts"
import type { EmulatorAddress } from "./emulatorMain.ts"

const pollMillis = 1000
const application = "bare"

export interface Dialing {
  readonly slots: number
  readonly numbers: ReadonlyArray<string>
}

interface Pacing {
  readonly apartMillis: number
  readonly numbers: ReadonlyArray<string>
}

const channelIdOf = (place: number) => `bare-${String(place).padStart(6, "0")}`

interface Line {
  readonly originate: () => void
  /** Calls `listener` at each end of a call. */
  readonly onEnd: (listener: () => void) => void
}

const openLine = ({ password, url, user }: EmulatorAddress, numbers: ReadonlyArray<string>): Effect.Effect<Line, never, Scope.Scope> =>
  Effect.gen(function* () {
    const agent = yield* Effect.acquireRelease(
      Effect.sync(() => new Agent({ keepAlive: true })),
      (opened) => Effect.sync(() => opened.destroy())
    )
    const query = new URLSearchParams({ api_key: `${user}:${password}`, app: application })
    const socket = yield* Effect.acquireRelease(
      Effect.callback<WebSocket>((resume) => {
        const opening = new WebSocket(`${url.replace("http", "ws")}/ari/events?${query}`, { perMessageDeflate: false })
        opening.once("open", () => resume(Effect.succeed(opening)))
      }),
      (opened) => Effect.sync(() => opened.terminate())
    )
    const authorization = `Basic ${Buffer.from(`${user}:${password}`).toString("base64")}`
    let next = 0
    return {
      originate: () => {
        const number = numbers[next++]
        if (number === undefined) return
        const channel = new URLSearchParams({
          app: application,
          channelId: channelIdOf(next),
          endpoint: `PJSIP/${number}@trunk`,
          timeout: "60"
        })
        request(`${url}/ari/channels?${channel}`, { agent, method: "POST", headers: { authorization } }, (response) =>
          response.resume()
        ).end()
      },
      onEnd: (listener) => {
        socket.on("message", (data) => {
          const event: unknown = JSON.parse(String(data))
          if (event instanceof Object && "type" in event && event.type === "ChannelDestroyed") listener()
        })
      }
    }
  })

/** Dials until the scope closes. */
export const dialInLoop = Effect.fnUntraced(function* (emulator: EmulatorAddress, { numbers, slots }: Dialing) {
  const { onEnd, originate } = yield* openLine(emulator, numbers)
  onEnd(originate)
  for (let free = slots; free > 0; free--) originate()
})

/** Dials until the scope closes. */
export const dialByPolling = Effect.fnUntraced(function* (emulator: EmulatorAddress, { numbers, slots }: Dialing) {
  const { onEnd, originate } = yield* openLine(emulator, numbers)
  let free = slots
  onEnd(() => {
    free++
  })
  const fill = Effect.sync(() => {
    for (; free > 0; free--) originate()
  })
  yield* Effect.forkScoped(fill.pipe(Effect.andThen(Effect.sleep(pollMillis)), Effect.forever))
})

/** Returns when each request was sent, by channel, after the last was sent. A late one does not delay those after it. */
export const dialAtRate = Effect.fnUntraced(function* (emulator: EmulatorAddress, { apartMillis, numbers }: Pacing) {
  const { originate } = yield* openLine(emulator, numbers)
  const sentAt = new Map<string, number>()
  const begun = performance.now()
  while (sentAt.size < numbers.length) {
    const early = begun + sentAt.size * apartMillis - performance.now()
    if (early > 0) yield* Effect.sleep(early)
    sentAt.set(channelIdOf(sentAt.size + 1), preciseNow())
    originate()
  }
  return sentAt
})
