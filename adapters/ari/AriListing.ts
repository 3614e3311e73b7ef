/** Channels as Asterisk describes them, in a list or singly. */
import type { Deferred } from "effect"
import type { ProviderError } from "#core/provider/Adapter.ts"

export interface Listed {
  readonly state: string
  /** Undefined if this version of Asterisk does not say. */
  readonly inStasis: boolean | undefined
  /** The arguments that it entered our application with; undefined when it is elsewhere. */
  readonly args?: ReadonlyArray<string>
}

/** The channels by their ids. */
export type ChannelList = ReadonlyMap<string, Listed>

/** Lookups that wait for one shared list, or, if that is undefined, for a request each. */
export interface Looking {
  asked: number
  readonly list: Deferred.Deferred<ChannelList | undefined, ProviderError>
}
