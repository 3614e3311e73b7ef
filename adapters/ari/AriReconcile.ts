/** After each gap in the events: what we know is compared with what Asterisk has. */
import { Effect } from "effect"
import { at, textAt } from "./AriJson.ts"
import { ask, type Asterisk, channelPath, providerError } from "./Asterisk.ts"

/** Room for some forty thousand channels. */
const MAX_LIST_BYTES = 32 * 1024 * 1024
/** A channel that is not in the list may have ended a moment ago: its last event gets so long to come. */
const LAST_EVENT_MILLIS = 250

/** Settles every call that we know against the channels that there are. */
export const reconcile = Effect.fnUntraced(function* (asterisk: Asterisk) {
  const info = yield* ask(asterisk, "reconcile", { method: "GET", path: "/asterisk/info", query: { only: "status" } })
  const startedAt = textAt(info.body, "status", "startup_time")
  if (asterisk.startedAt !== undefined && asterisk.startedAt !== startedAt) {
    yield* Effect.logWarning("Asterisk was restarted", { calls: asterisk.calls.size })
  }
  asterisk.startedAt = startedAt
  if (asterisk.calls.size === 0) return
  const list = yield* ask(asterisk, "reconcile", { method: "GET", path: "/channels", maxBytes: MAX_LIST_BYTES })
  if (!Array.isArray(list.body)) return yield* providerError("reconcile", "the list of channels is no list")
  const present = new Map<string, string>()
  for (const channel of list.body) present.set(textAt(channel, "id") ?? "", textAt(channel, "state") ?? "")
  for (const [callId, state] of present) asterisk.calls.present(callId, state)
  const missing = asterisk.calls.missing(present)
  if (missing.length === 0) return
  yield* Effect.sleep(LAST_EVENT_MILLIS)
  for (const callId of missing) asterisk.calls.absent(callId)
})

/** The same for one call. */
export const recheck = Effect.fnUntraced(
  function* (asterisk: Asterisk, callId: string) {
    const { body, status } = yield* ask(asterisk, "recheck", { method: "GET", path: channelPath(callId) }, 404)
    if (status !== 404) return asterisk.calls.present(callId, textAt(body, "state") ?? "")
    yield* Effect.sleep(LAST_EVENT_MILLIS)
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
    yield* ask(asterisk, "sweepBridges", { method: "DELETE", path: `/bridges/${encodeURIComponent(id)}` }, 404)
  }
})
