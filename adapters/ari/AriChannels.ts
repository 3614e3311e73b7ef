/**
 * What Asterisk says about channels: all of them, or one. Lookups of single channels that come close together, as after a start with many calls
 * left behind, share one list.
 */
import { Deferred, Effect } from "effect"
import { textAt } from "#adapters/shared/Json.ts"
import type { ChannelList, Listed, Looking } from "./AriListing.ts"
import { ask, type Asterisk, channelPath, isNoChannel, providerError } from "./Asterisk.ts"

/** Lookups that begin within this time are answered together. */
const TOGETHER = "20 millis"
/** A list of thousands of channels is expensive: up to this many lookups, one request for each is cheaper. */
const FEW = 3
/** Enough for some forty thousand channels. */
const MAX_LIST_BYTES = 32 * 1024 * 1024

export const listChannels = Effect.fnUntraced(function* (asterisk: Asterisk, operation: string) {
  const { body } = yield* ask(asterisk, operation, { method: "GET", path: "/channels", maxBytes: MAX_LIST_BYTES })
  if (!Array.isArray(body)) return yield* providerError(operation, "the list of channels is not a list")
  const list: ChannelList = new Map(body.map((channel: unknown) => [textAt(channel, "id") ?? "", listed(channel, asterisk.application)]))
  return list
})

/** Undefined only if Asterisk itself says that there is no such channel. */
export const findChannel = Effect.fnUntraced(function* (asterisk: Asterisk, operation: string, callId: string) {
  const looking = asterisk.looking ?? beginLooking(asterisk)
  looking.asked += 1
  const list = yield* Deferred.await(looking.list)
  return list === undefined ? yield* findAlone(asterisk, operation, callId) : list.get(callId)
})

const findAlone = Effect.fnUntraced(function* (asterisk: Asterisk, operation: string, callId: string) {
  const reply = yield* ask(asterisk, operation, { method: "GET", path: channelPath(callId) }, isNoChannel)
  if (isNoChannel(reply)) return undefined
  if (textAt(reply.body, "id") !== callId) return yield* providerError(operation, "the reply shows no channel")
  return listed(reply.body, asterisk.application)
})

const beginLooking = (asterisk: Asterisk): Looking => {
  const looking: Looking = { asked: 0, list: Deferred.makeUnsafe() }
  asterisk.looking = looking
  const answer = Effect.suspend(() => {
    // Lookups from now on need a newer list.
    asterisk.looking = undefined
    return looking.asked <= FEW ? Effect.undefined : listChannels(asterisk, "lookup")
  })
  const closed = Deferred.fail(looking.list, providerError("lookup", "the trunk was closed"))
  asterisk.background(
    Effect.delay(answer, TOGETHER).pipe(
      Effect.onInterrupt(() => closed),
      Deferred.into(looking.list)
    )
  )
  return looking
}

const listed = (channel: unknown, application: string): Listed => {
  const name = textAt(channel, "dialplan", "app_name")
  const state = textAt(channel, "state") ?? ""
  if (name !== "Stasis") return { state, inStasis: name === undefined ? undefined : false }
  const [entered, ...args] = (textAt(channel, "dialplan", "app_data") ?? "").split(",")
  return { state, inStasis: true, ...(entered === application ? { args } : {}) }
}
