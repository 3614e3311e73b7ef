/** Channels as Asterisk shows them, in a list or one by one. */
import type { Deferred } from "effect"
import type { ProviderError } from "#core/provider/Adapter.ts"

export interface Listed {
  readonly state: string
  /** Undefined where this version of Asterisk does not say. */
  readonly inStasis: boolean | undefined
  /** The arguments with which it entered our application; undefined when it is elsewhere. */
  readonly args?: ReadonlyArray<string>
}

/** By channel id. */
export type ChannelList = ReadonlyMap<string, Listed>

/** Lookups about to be answered by one list, or, when that is undefined, by a request each. */
export interface Looking {
  asked: number
  readonly list: Deferred.Deferred<ChannelList | undefined, ProviderError>
}
