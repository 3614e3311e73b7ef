/** Port: makes the calls of browsers, once their runs are there. */
import { Context, type Effect, Schema } from "effect"
import type { RunNotFound } from "#core/run/Run.ts"
import type { HangupCause } from "#core/outcome/HangupCause.ts"
import type { JsonObject } from "#core/Json.ts"
import type { OrganizationId } from "#core/Id.ts"
import type { BrowserRun } from "./BrowserRun.ts"
import type { BrowserRunTaken, RunOf } from "./BrowserBeginning.ts"
import type { ConcurrencyExhausted, MediaExhausted } from "./Dialer.ts"

/** No call can begin now; `reason` is a sentence for whoever wanted it. */
export class BrowserCallRefused extends Schema.TaggedError<BrowserCallRefused>()("BrowserCallRefused", { reason: Schema.String }) {}

/** What the page is told. Neither throws. */
export interface BrowserPage {
  /** The answer to an offer (SDP), in the order of the offers. */
  readonly answered: (sdp: string) => void
  /** The call is over. Called once; the record may follow. */
  readonly ended: (cause: HangupCause) => void
}

interface IceCandidate {
  readonly candidate: string
  readonly sdpMid?: string | undefined
  readonly sdpMLineIndex?: number | undefined
}

/** A call from its first offer on. Nothing of it has an effect once the call is over. */
export interface BrowserCall {
  /** A later offer: the connection is negotiated again. */
  readonly offer: (sdp: string) => void
  readonly candidate: (candidate: IceCandidate) => void
  /** The browser hangs up. */
  readonly hangUp: () => void
}

/** Offers are as `readOffer` returns them. */
export interface FirstOffer {
  readonly sdp: string
  /** What the agent knows beside what the run says. */
  readonly context: JsonObject
}

export class BrowserCalls extends Context.Service<
  BrowserCalls,
  {
    /** The page of this new run will call soon: its agent gets its voice ready, as while a phone rings. Returns at once. */
    readonly expect: (organizationId: OrganizationId, run: BrowserRun) => Effect.Effect<void>
    /** Begins the run's only call. Its connection comes up later. */
    readonly begin: (
      run: RunOf,
      offer: FirstOffer,
      page: BrowserPage
    ) => Effect.Effect<BrowserCall, RunNotFound | BrowserRunTaken | ConcurrencyExhausted | MediaExhausted | BrowserCallRefused>
  }
>()("core/call/BrowserCalls") {}
