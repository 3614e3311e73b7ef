/** One Asterisk as this trunk knows it: shared by what places calls (`AriTrunk`) and what carries their audio (`AriMedia`). */
import { type Deferred, Effect, type Latch } from "effect"
import type { Egress } from "#core/egress/Egress.ts"
import { ProviderError, type TransferOutcome, type TrunkStatus } from "#core/provider/Adapter.ts"
import type { AriCalls } from "./AriCalls.ts"
import type { AriDoubt } from "./AriDoubt.ts"
import type { ChannelEvent, EventSocket } from "./AriEvents.ts"
import { complaint, textAt } from "./AriJson.ts"
import type { Looking } from "./AriListing.ts"
import { type AriRequest, type AriRest, pathUnder, type Reply } from "./AriRest.ts"

/** Hears of a channel that is no call: of its audio, or of whom it is transferred to. */
interface Watcher {
  readonly started: () => void
  readonly gone: (event: ChannelEvent & { readonly type: "ChannelDestroyed" }) => void
}

/** What becomes of a media channel, from before it exists. */
export interface Leg {
  readonly started: Deferred.Deferred<void, ProviderError>
  /** Called when Asterisk has removed the channel. */
  onGone: () => void
}

/** The bridge of a call, and the channel of its agent in it. */
export interface AgentLine {
  readonly bridgeId: string
  readonly mediaId: string
}

/** One that is under way, or whose parties talk to each other. */
export interface Transfer {
  readonly legId: string
  readonly settled: Deferred.Deferred<TransferOutcome>
  isConnected: boolean
}

export interface Asterisk {
  /** Of its HTTP server, with the prefix if it has one. */
  readonly base: URL
  /** The endpoint, for people and for the record. */
  readonly name: string
  readonly authorization: string
  /** What this trunk may connect to. */
  readonly egress: Egress
  /** Our Stasis application: of this node alone. */
  readonly application: string
  readonly rest: AriRest
  readonly calls: AriCalls
  /** By channel id. */
  readonly media: Map<string, Watcher>
  /** By call. */
  readonly lines: Map<string, AgentLine>
  /** By call. */
  readonly transfers: Map<string, Transfer>
  /** Ids of the bridges in use. */
  readonly bridges: Set<string>
  readonly doubt: AriDoubt
  /** Steady time. */
  readonly now: () => number
  /** Lives as long as the trunk at most. */
  readonly background: (effect: Effect.Effect<unknown>) => void
  /** Open: the next attempt to connect is wanted now. */
  readonly hurry: Latch.Latch
  status: TrunkStatus
  /** Undefined while there is none. */
  socket: EventSocket | undefined
  /** Calls that the last list of channels did not show. */
  missing: ReadonlySet<string>
  /** Looks that wait to be asked for together. */
  looking: Looking | undefined
  /** This Asterisk has turned out to have no websocket channel; it is not asked for one again before then. */
  noMediaSocketUntil: number
  /** The dialplan that answered calls are to run through has turned out not to be there; nothing is dialed before then. */
  noDialplanUntil: number
}

export const providerError = (operation: string, detail: string) => new ProviderError({ provider: "ari", operation, detail })

/** `isTolerated`: what beside the 2xx is as good as success. */
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

/** An error in Asterisk's own words: with its name, which others on the way do not bear, and in its JSON. */
export const isFromAsterisk = ({ body, server }: Reply): boolean => /^asterisk/i.test(server) && complaint(body) !== ""

/** Proof that there is no such channel. A proxy's 404 says no more than that the proxy has no way to Asterisk. */
export const isNoChannel = ({ body, status }: Reply): boolean => status === 404 && textAt(body, "message") === "Channel not found"

/** An endpoint, and a channel, that there never is: to ask something of it does nothing, and whoever reads Asterisk's log sees whose it is. */
export const nobody = "trunkline-nobody"

export const channelPath = (id: string): string => `/channels/${encodeURIComponent(id)}`

/** What stands for an endpoint wherever it is named: nothing of it is secret. */
export const nameOf = (base: URL): string => `${base.protocol}//${base.host}${base.pathname.replace(/\/$/, "")}`

/** The address of a websocket there. */
export const webSocketUrl = (base: URL, path: string): string =>
  `${base.protocol === "https:" ? "wss:" : "ws:"}//${base.host}${pathUnder(base, path)}`

/** HTTP's basic authentication, on requests and websockets alike. */
export const authorizationOf = ({ password, user }: { readonly password: string; readonly user: string }): string =>
  `Basic ${Buffer.from(`${user}:${password}`).toString("base64")}`
