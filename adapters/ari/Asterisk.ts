/** The state of one Asterisk, shared by the code that places calls (`AriTrunk`) and the code that carries their audio (`AriMedia`). */
import { type Deferred, Effect, type Latch } from "effect"
import type { Egress } from "#core/egress/Egress.ts"
import { ProviderError, type TrunkStatus } from "#core/provider/Adapter.ts"
import type { HangupCause } from "#core/outcome/HangupCause.ts"
import type { TrunkEvent } from "#core/provider/TrunkEvent.ts"
import type { AriCalls } from "./AriCalls.ts"
import type { AriDoubt } from "./AriDoubt.ts"
import type { ChannelEvent, EventSocket } from "./AriEvents.ts"
import { complaint, textAt } from "#adapters/shared/Json.ts"
import type { Looking } from "./AriListing.ts"
import type { Reply } from "#adapters/shared/HttpClient.ts"
import type { AriRequest, AriRest } from "./AriRest.ts"

/** Gets the events of a channel that is not a call: a media channel, or the destination of a transfer. */
interface Watcher {
  readonly started: () => void
  readonly gone: (event: ChannelEvent & { readonly type: "ChannelDestroyed" }) => void
}

/** Reports the fate of a media channel, from before it exists. */
export interface Leg {
  readonly started: Deferred.Deferred<void, ProviderError>
  /** Called when Asterisk has removed the channel. */
  onGone: () => void
}

/** The bridge of a call, and its agent's channel in it. */
export interface AgentLine {
  readonly bridgeId: string
  readonly mediaId: string
}

/** The outcome of an attended transfer. After `Declined`, the callee is back with the agent. */
export type TransferOutcome =
  | { readonly _tag: "Connected" }
  | { readonly _tag: "Declined"; readonly cause: HangupCause }
  /** The callee has hung up in the meantime. */
  | { readonly _tag: "CalleeGone" }

/** A transfer that is under way, or whose parties are talking. */
export interface Transfer {
  readonly legId: string
  readonly settled: Deferred.Deferred<TransferOutcome>
  isConnected: boolean
}

export interface Asterisk {
  /** The URL of its HTTP server, with the prefix if it has one. */
  readonly base: URL
  /** The endpoint's name, for people and for the record. */
  readonly name: string
  readonly authorization: string
  /** What this trunk may connect to. */
  readonly egress: Egress
  /** Our Stasis application, which only this node uses. */
  readonly application: string
  readonly rest: AriRest
  readonly calls: AriCalls
  /** The watchers by channel id. */
  readonly media: Map<string, Watcher>
  /** Lines by call id. */
  readonly lines: Map<string, AgentLine>
  /** Transfers by call id. */
  readonly transfers: Map<string, Transfer>
  /** The ids of bridges in use. */
  readonly bridges: Set<string>
  readonly doubt: AriDoubt
  /** Steady time. */
  readonly now: () => number
  /** Reports an event of a call to the engine. */
  readonly report: (callId: string, event: TrunkEvent) => void
  /** Runs an effect for at most as long as the trunk lives. */
  readonly background: (effect: Effect.Effect<unknown>) => void
  /** Opened to make the next attempt to connect start now. */
  readonly hurry: Latch.Latch
  status: TrunkStatus
  /** Undefined while there is no connection. */
  socket: EventSocket | undefined
  /** Calls that the last list of channels did not show. */
  missing: ReadonlySet<string>
  /** Lookups that wait to be answered together. */
  looking: Looking | undefined
  /** This Asterisk has no WebSocket channel; it is not asked for one again before this time. */
  noMediaSocketUntil: number
  /** The dialplan lacks the place for answered calls; nothing is dialed before this time. */
  noDialplanUntil: number
}

export const providerError = (operation: string, detail: string) => new ProviderError({ provider: "ari", operation, detail })

/** `isTolerated`: which replies count as success besides 2xx. */
export const ask = (
  asterisk: Asterisk,
  operation: string,
  request: AriRequest,
  isTolerated: (reply: Reply) => boolean = () => false
): Effect.Effect<Reply, ProviderError> =>
  asterisk.rest.send(request).pipe(
    Effect.catch((error) => Effect.fail(providerError(operation, error.detail))),
    Effect.filterOrFail(
      (reply) => isSuccess(reply) || isTolerated(reply),
      ({ body, status }) => providerError(operation, `HTTP ${status} ${complaint(body)}`.trim())
    )
  )

export const isSuccess = ({ status }: Reply): boolean => status >= 200 && status < 300

/** An error from Asterisk itself: its `Server` header names Asterisk, which proxies do not claim, and its JSON holds a message. */
export const isFromAsterisk = ({ body, server }: Reply): boolean => /^asterisk/i.test(server) && complaint(body) !== ""

/** Proof that there is no such channel. A proxy's 404 only says that the proxy has no route to Asterisk. */
export const isNoChannel = ({ body, status }: Reply): boolean => status === 404 && textAt(body, "message") === "Channel not found"

/** The name of an endpoint, and of a channel, that never exists: requests for it do nothing, and Asterisk's log shows who sent them. */
export const nobody = "trunkline-nobody"

export const channelPath = (id: string): string => `/channels/${encodeURIComponent(id)}`

/** The name of an endpoint wherever it is shown; it holds nothing secret. */
export const nameOf = (base: URL): string => `${base.protocol}//${base.host}${base.pathname.replace(/\/$/, "")}`

/** HTTP basic authentication, for requests and WebSockets alike. */
export const authorizationOf = ({ password, user }: { readonly password: string; readonly user: string }): string =>
  `Basic ${Buffer.from(`${user}:${password}`).toString("base64")}`
