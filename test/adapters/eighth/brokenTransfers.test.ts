/** Adapters whose transfers have one fault each. */
import { Effect } from "effect"
import type { Adapter, Trunk } from "#core/provider/Adapter.ts"
import type { TrunkEvent } from "#core/provider/TrunkEvent.ts"
import { withEvents, withManifest, without, withTrunk } from "./broken.ts"
import { fail, type Fault } from "./faults.ts"
import { parley } from "./parley.ts"

const transfers = (change: (begin: NonNullable<Trunk["transfer"]>) => NonNullable<Trunk["transfer"]>): Adapter =>
  withTrunk(parley, ({ transfer }) => (transfer === undefined ? {} : { transfer: change(transfer) }))
const withTransferred = (change: (event: Extract<TrunkEvent, { readonly _tag: "Transferred" }>) => ReadonlyArray<TrunkEvent>): Adapter =>
  withEvents(parley, (event) => (event._tag === "Transferred" ? change(event) : [event]))

fail([
  ["does not say that it transfers", withManifest(parley, { transfers: [] }), "transfer: the manifest", /`transfers` and `transfer`/],
  ["swallows what comes of transfers", without(parley, "Transferred"), "transfer: a destination that answers", /what came of the transfer/],
  [
    "takes an answer for a refusal",
    withTransferred(({ transfer }) => [{ _tag: "Transferred", transfer, answered: false, cause: "no_answer" }]),
    "transfer: a destination that hangs up",
    /an answer to be told/
  ],
  [
    "takes a busy destination for one that does not answer",
    withTransferred((event) => [event.answered ? event : { ...event, cause: "no_answer" }]),
    "transfer: from a destination that is busy",
    /user_busy/
  ],
  [
    "does not say that it tells who does not answer",
    withManifest(parley, { tells: (parley.manifest.tells ?? []).filter((one) => one !== "declined") }),
    "transfer: from a destination that is busy",
    /add `declined`/
  ],
  [
    "says that it tells who does not answer",
    withTransferred((event) => (event.answered ? [event] : [])),
    "transfer: from a destination that is busy",
    /what came of the transfer/
  ],
  [
    "takes one transfer for another",
    withTransferred((event) => [{ ...event, transfer: 1 }]),
    "transfer: from a destination that is busy",
    /what came of the transfer/
  ],
  [
    "forgets how long a destination may ring",
    transfers((begin) => (call, request) => begin(call, { ...request, timeoutSeconds: 300 })),
    "transfer: a destination that rings for too long",
    /what came of the transfer/
  ],
  [
    "lets the destination ring on",
    withTrunk(parley, ({ hangup, transfer }) => {
      const handed = new Set<string>()
      return {
        hangup: (call, cause) => (handed.has(call.callId) ? Effect.void : hangup(call, cause)),
        transfer: (call, request) =>
          Effect.suspend(() => {
            handed.add(call.callId)
            return transfer?.(call, request) ?? Effect.void
          })
      }
    }),
    "transfer: our hang-up while the destination rings",
    /the end of the call is told/
  ],
  [
    "transfers without permission",
    transfers((begin) => (call, request) => begin(call, { ...request, leave: () => request.leave() || true })),
    "transfer: without permission",
    /TransferRefused/
  ],
  [
    "asks twice before a transfer",
    transfers((begin) => (call, request) => begin(call, { ...request, leave: () => request.leave() && request.leave() })),
    "transfer: a destination that answers",
    /asked for once, but saw 2 times/
  ],
  ...[true, false].map(
    (places): Fault => [
      `repeats a transfer whose reply was lost, although it was ${places ? "" : "not "}carried out`,
      transfers((begin) => (call, request) => Effect.catchTag(begin(call, request), "TransferDoubtful", () => begin(call, request))),
      `transfer: a request whose reply is lost is in doubt and not repeated, whether it was ${places ? "" : "not "}carried out`,
      /TransferDoubtful|calls at the destination's phone/
    ]
  )
])
