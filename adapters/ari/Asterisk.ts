/** One Asterisk as this trunk knows it: shared by what places calls (`AriTrunk`) and what carries their audio (`AriMedia`). */
import { Effect, type Latch } from "effect"
import { ProviderError, type TrunkStatus } from "#core/provider/Adapter.ts"
import type { AriCalls } from "./AriCalls.ts"
import type { EventSocket } from "./AriEvents.ts"
import { complaint } from "./AriJson.ts"
import { type AriRequest, type AriRest, pathUnder, type Reply } from "./AriRest.ts"

/** Hears of a media channel, which is no call. */
export interface MediaWatcher {
  readonly started: () => void
  readonly gone: () => void
}

export interface Asterisk {
  /** Of its HTTP server, with the prefix if it has one. */
  readonly base: URL
  readonly authorization: string
  /** Our Stasis application: of this node alone. */
  readonly application: string
  readonly rest: AriRest
  readonly calls: AriCalls
  /** By channel id. */
  readonly media: Map<string, MediaWatcher>
  /** Ids of the bridges in use. */
  readonly bridges: Set<string>
  /** Epoch milliseconds. */
  readonly now: () => number
  /** Lives as long as the trunk at most. */
  readonly background: (effect: Effect.Effect<unknown>) => void
  /** Open: the next attempt to connect is wanted now. */
  readonly hurry: Latch.Latch
  status: TrunkStatus
  /** Counts the connections of the events' websocket. */
  connection: number
  /** Undefined while there is none. */
  socket: EventSocket | undefined
  startedAt: string | undefined
  /** False once it turned out that this Asterisk has no websocket channel; asked again after a reconnect. */
  hasMediaSocket: boolean
}

export const providerError = (operation: string, detail: string) => new ProviderError({ provider: "ari", operation, detail })

/** `tolerated`: statuses beside the 2xx that are as good as success. */
export const ask = (
  asterisk: Asterisk,
  operation: string,
  request: AriRequest,
  ...tolerated: ReadonlyArray<number>
): Effect.Effect<Reply, ProviderError> =>
  asterisk.rest.send(request).pipe(
    Effect.catch((error) => Effect.fail(providerError(operation, error.detail))),
    Effect.filterOrFail(
      ({ status }) => (status >= 200 && status < 300) || tolerated.includes(status),
      ({ body, status }) => providerError(operation, `HTTP ${status} ${complaint(body)}`.trim())
    )
  )

export const channelPath = (id: string): string => `/channels/${encodeURIComponent(id)}`

/** The address of a websocket there. */
export const webSocketUrl = (base: URL, path: string): string =>
  `${base.protocol === "https:" ? "wss:" : "ws:"}//${base.host}${pathUnder(base, path)}`
