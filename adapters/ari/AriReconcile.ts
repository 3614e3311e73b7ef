/** What we know is compared with what Asterisk has: after each gap in the events, and now and then without one. */
import { Effect } from "effect"
import { findChannel, listChannels } from "./AriChannels.ts"
import { at, textAt } from "./AriJson.ts"
import { connectedLegs, settleLegs } from "./AriTransfer.ts"
import { ask, type Asterisk, providerError } from "./Asterisk.ts"

/** Room for some forty thousand bridges. */
const MAX_LIST_BYTES = 32 * 1024 * 1024
/** A channel that is not in the list may have ended a moment ago: its last event gets so long to come. */
const LAST_EVENT_MILLIS = 250

/** Settles every call that we know against the channels that there are, and passes on the others that may be calls. */
export const reconcile = Effect.fnUntraced(function* (asterisk: Asterisk, afterGap: boolean) {
  const askedAt = asterisk.now()
  const { gaps } = asterisk.calls
  // A call that Asterisk accepts while it answers may be in the list or not.
  const accepted = asterisk.calls.accepted()
  const legs = connectedLegs(asterisk)
  const present = yield* listChannels(asterisk, "reconcile")
  // Asked after the list: it cannot be that of an Asterisk which was started later than this one says.
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
  // Without a gap its end is on its way, and under full load late: only what no second list shows has ended unheard.
  const over = afterGap ? missing : missing.filter((callId) => missedBefore.has(callId))
  if (over.length === 0) return
  yield* lastEvents(asterisk)
  for (const callId of over) asterisk.calls.absent(callId)
})

/** What Asterisk has sent by now has been heard after this, unless the connection is lost. */
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

/** Empty bridges of ours that nobody uses: of a process that was killed, or whose deletion did not get through. */
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
