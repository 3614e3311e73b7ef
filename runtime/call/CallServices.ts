/** Dependencies of this node's call actors: collected once, and passed to each step of a call's life. */
import { Clock, Effect } from "effect"
import { RecentOptOuts } from "#core/contact/RecentOptOuts.ts"
import { CallRate, RealMillis } from "#runtime/dispatch/CallRate.ts"
import { Deadlines } from "#runtime/dispatch/Deadlines.ts"
import { LocalJournal } from "#runtime/journal/LocalJournal.ts"
import { Charge } from "#runtime/lock/Charge.ts"
import { type CallMetrics, CurrentCallMetrics } from "#runtime/metrics/CallMetrics.ts"
import { VoiceAgent } from "#runtime/voice/VoiceAgent.ts"
import { CallConversations } from "./CallConversations.ts"
import { CallJournal } from "./CallJournal.ts"
import { ContextFetcher } from "./ContextFetcher.ts"
import { type DialPoint, PassDialPoint } from "./DialPoint.ts"
import { MediaSockets } from "./MediaSockets.ts"
import { RecordPause } from "./RecordPause.ts"
import { TransferDepartures } from "./TransferDepartures.ts"

export interface CallServices {
  readonly agent: VoiceAgent["Service"]
  readonly charge: Charge["Service"]
  readonly clock: Clock.Clock
  readonly conversations: (typeof CallConversations)["Service"]
  readonly deadlines: Deadlines["Service"]
  readonly fetcher: ContextFetcher["Service"]
  /** Writes to the database. */
  readonly journal: CallJournal["Service"]
  /** Writes to this node's disk. */
  readonly local: LocalJournal["Service"]
  readonly metrics: CallMetrics
  readonly optOuts: RecentOptOuts["Service"]
  readonly pass: (point: DialPoint) => void
  readonly rate: CallRate["Service"]
  readonly realMillis: () => number
  readonly recordPauseMillis: number
  readonly sockets: MediaSockets["Service"]
  readonly transfers: (typeof TransferDepartures)["Service"]
}

export const callServices = Effect.gen(function* () {
  const services: CallServices = {
    agent: yield* VoiceAgent,
    charge: yield* Charge,
    clock: yield* Clock.Clock,
    conversations: yield* CallConversations,
    deadlines: yield* Deadlines,
    fetcher: yield* ContextFetcher,
    journal: yield* CallJournal,
    local: yield* LocalJournal,
    metrics: yield* CurrentCallMetrics,
    optOuts: yield* RecentOptOuts,
    pass: yield* PassDialPoint,
    rate: yield* CallRate,
    realMillis: yield* RealMillis,
    recordPauseMillis: (yield* RecordPause).afterEnd,
    sockets: yield* MediaSockets,
    transfers: yield* TransferDepartures
  }
  return services
})
