/**
 * Websockets that carriers open for the audio of calls, each with 50 messages per second in both directions. They are exempt from load shedding:
 * a callee is on the line.
 */
import type { Effect } from "effect"
import type * as uws from "uWebSockets.js"
import { PASSED_ON } from "#core/provider/CarrierCallbacks.ts"
import { CarrierMedia, MEDIA_ROUTE } from "#core/provider/CarrierMedia.ts"
import { mountSockets, type SocketLimits } from "./sockets.ts"

const defaultLimits: SocketLimits = {
  idleSeconds: 12,
  firstMessageMillis: 10_000,
  // Carriers send 20 ms in a message of less than a kilobyte.
  maxMessageBytes: 65_536,
  // About two seconds of audio: later audio would only get in the way.
  maxBufferedBytes: 32_768,
  // Three times what is spoken, after ten seconds of audio that a network may have held up.
  heard: { burst: 500, perSecond: 150 }
}

/** `headers`: those that any carrier's signature needs, in lower case. */
export const mountMediaSockets = (
  app: uws.TemplatedApp,
  headers: ReadonlyArray<string>,
  limits: Partial<SocketLimits> = {}
): Effect.Effect<void, never, CarrierMedia> =>
  CarrierMedia.use(({ admit }) =>
    mountSockets(app, {
      route: MEDIA_ROUTE,
      read: { headers: [...headers, PASSED_ON], hasQuery: true },
      isSealed: true,
      limits: { ...defaultLimits, ...limits },
      admit: ({ headers, params: { call = "", seal = "" }, query }) => admit({ address: { call, seal }, headers, query })
    })
  )
