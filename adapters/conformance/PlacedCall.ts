/** A call as the engine knows it: its reference, and the events so far. */
import { randomUUID } from "node:crypto"
import { Schema } from "effect"
import { CallId } from "#core/Id.ts"
import type { HangupCause } from "#core/outcome/HangupCause.ts"
import type { OriginateDoubtful, OriginateRefused } from "#core/provider/Adapter.ts"
import type { CallRef } from "#core/provider/CallRef.ts"
import type { TrunkEvent } from "#core/provider/TrunkEvent.ts"

export type Tag = TrunkEvent["_tag"]
type EventOf<T extends Tag> = Extract<TrunkEvent, { readonly _tag: T }>

const newCallId = (): CallId => Schema.decodeSync(CallId)(randomUUID())

export class PlacedCall {
  readonly callId = newCallId()
  readonly to: string
  readonly from: string | undefined
  readonly events: Array<TrunkEvent> = []
  /** Why it was not placed, or may not have been. Undefined: the carrier has accepted it, or has not replied yet. */
  failure: OriginateRefused | OriginateDoubtful | undefined
  /** How often the adapter has asked whether the request may leave. */
  asked = 0
  sentAt = 0
  endpoint: string | undefined
  providerCallId: string | undefined
  isWanted = true

  constructor(to: string, from: string | undefined) {
    this.to = to
    this.from = from
  }

  /** The reference as the engine reads it from its disk. */
  ref(): CallRef {
    const { callId, endpoint, from, providerCallId, sentAt, to } = this
    return { callId, endpoint, from, providerCallId, sentAt, to }
  }

  take(event: TrunkEvent): void {
    if (event._tag === "Named") this.providerCallId = event.providerCallId
    this.events.push(event)
  }

  of<T extends Tag>(tag: T): ReadonlyArray<EventOf<T>> {
    return this.events.filter((event): event is EventOf<T> => event._tag === tag)
  }

  has(tag: Tag): boolean {
    return this.events.some(({ _tag }) => _tag === tag)
  }

  cause(): HangupCause | undefined {
    return this.of("HungUp").at(-1)?.cause
  }

  /** A description for errors, without earlier events. */
  story(): string {
    const words = this.events.map((event) => (event._tag === "HungUp" ? `HungUp ${event.cause}` : event._tag))
    return [...new Set(words)].join(", ") || "nothing reported"
  }
}
