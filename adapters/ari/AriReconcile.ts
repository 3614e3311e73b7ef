/** Compares what we know with what Asterisk has: after each gap in the events, and periodically without one. */
import { Effect } from "effect"
import { findChannel, listChannels } from "./AriChannels.ts"
import { at, textAt } from "#adapters/shared/Json.ts"
import { connectedLegs, settleLegs } from "./AriTransfer.ts"
import { ask, type Asterisk, providerError } from "./Asterisk.ts"

/** Enough for some forty thousand bridges. */
const MAX_LIST_BYTES = 32 * 1024 * 1024
/** A channel that is missing from the list may have just ended: its last event gets this long to arrive. */
const LAST_EVENT_MILLIS = 250

/** Settles every known call against the list of channels, and passes on others that may be calls. */
export const reconcile = Effect.fnUntraced(function* (asterisk: Asterisk, afterGap: boolean) {
  const askedAt = asterisk.now()
  const { gaps } = asterisk.calls
  // Only calls accepted before the list is requested: one that is accepted in the meantime may or may not be in it.
  const accepted = asterisk.calls.accepted()
  const legs = connectedLegs(asterisk)
  const present = yield* listChannels(asterisk, "reconcile")
  // Requested after the list, so that the list is not from an Asterisk that started later than this reply says.
  const info = yield* ask(asterisk, "reconcile", { method: "GET", path: "/asterisk/info", query: { only: "status" } })
  const startedAt = textAt(info.body, "status", "startup_time")
  if (startedAt === undefined) return yield* providerError("reconcile", "Asterisk does not say when it was started")
  if (asterisk.doubt.started(startedAt, askedAt)) {
    yield* Effect.logWarning("Asterisk was restarted", { calls: asterisk.calls.size })
    asterisk.calls.outlive()
  }
  for (const [callId, channel] of present) {
    asterisk.calls.present(callId, channel, afterGap)
    asterisk.calls.closeGap(callId, channel, gaps)
  }
  settleLegs(asterisk, legs, present)
  const missing = accepted.filter((callId) => !present.has(callId) && asterisk.calls.get(callId) !== undefined)
  const missedBefore = asterisk.missing
  asterisk.missing = new Set(missing)
  // Without a gap the end is on its way, and late under full load: only a call that two lists in a row do not show has ended unnoticed.
  const over = afterGap ? missing : missing.filter((callId) => missedBefore.has(callId))
  if (over.length === 0) return
  yield* lastEvents(asterisk)
  for (const callId of over) asterisk.calls.absent(callId)
})

/** Everything that Asterisk has sent by now is handled once this returns, unless the connection is lost. */
const lastEvents = Effect.fnUntraced(function* ({ socket }: Asterisk) {
  yield* Effect.sleep(LAST_EVENT_MILLIS)
  if (socket !== undefined) yield* socket.roundTrip
})

/** The same for one call, after a gap. */
export const recheck = Effect.fnUntraced(
  function* (asterisk: Asterisk, callId: string) {
    const { gaps } = asterisk.calls
    const channel = yield* findChannel(asterisk, "recheck", callId)
    if (channel !== undefined) {
      asterisk.calls.present(callId, channel, true)
      return asterisk.calls.closeGap(callId, channel, gaps)
    }
    yield* lastEvents(asterisk)
    asterisk.calls.absent(callId)
  },
  (checking) => Effect.ignore(checking)
)

/** Deletes our empty bridges that are not in use: a killed process left them, or their deletion did not get through. */
export const sweepBridges = Effect.fnUntraced(function* (asterisk: Asterisk) {
  const { body } = yield* ask(asterisk, "sweepBridges", { method: "GET", path: "/bridges", maxBytes: MAX_LIST_BYTES })
  for (const bridge of Array.isArray(body) ? body : []) {
    const id = textAt(bridge, "id") ?? ""
    const isOurs = textAt(bridge, "name") === asterisk.application && !asterisk.bridges.has(id)
    const channels = at(bridge, "channels")
    if (!isOurs || !Array.isArray(channels) || channels.length > 0) continue
    yield* ask(asterisk, "sweepBridges", { method: "DELETE", path: `/bridges/${encodeURIComponent(id)}` }, ({ status }) => status === 404)
  }
})
