/** Adapters whose transfers have one fault each. */
import { Effect } from "effect"
import type { Adapter, Manifest, Trunk } from "#core/provider/Adapter.ts"
import type { TrunkEvent } from "#core/provider/TrunkEvent.ts"
import { withEvents, withManifest, without, withRead, withTrunk } from "./broken.ts"
import cloudonix from "#adapters/cloudonix/cloudonix.ts"
import { streamTo, hangUp } from "#adapters/shared/twiml.ts"
import { openSuiteWorld as openCloudonix } from "#test/adapters/cloudonixWorld.ts"
import { fail, type Fault } from "./faults.ts"
import { parley } from "./parley.ts"

const transfers = (change: (begin: NonNullable<Trunk["transfer"]>) => NonNullable<Trunk["transfer"]>): Adapter =>
  withTrunk(parley, ({ transfer }) => (transfer === undefined ? {} : { transfer: change(transfer) }))
const withTransferred = (change: (event: Extract<TrunkEvent, { readonly _tag: "Transferred" }>) => ReadonlyArray<TrunkEvent>): Adapter =>
  withEvents(parley, (event) => (event._tag === "Transferred" ? change(event) : [event]))

fail([
  ["does not say that it transfers", withManifest(parley, { transfers: [] }), "transfer: the manifest", /`transfers` and `transfer`/],
  [
    "swallows the outcomes of transfers",
    without(parley, "Transferred"),
    "transfer: a destination that answers",
    /what came of the transfer/
  ],
  [
    "takes an answer for a refusal",
    withTransferred(({ transfer }) => [{ _tag: "Transferred", transfer, answered: false, cause: "no_answer" }]),
    "transfer: a destination that hangs up",
    /an answer to be reported/
  ],
  [
    "takes a busy destination for one that does not answer",
    withTransferred((event) => [event.answered ? event : { ...event, cause: "no_answer" }]),
    "transfer: from a busy destination",
    /user_busy/
  ],
  [
    "does not say that it reports refusals of destinations",
    withManifest(parley, { tells: (parley.manifest.tells ?? []).filter((one) => one !== "declined") }),
    "transfer: from a busy destination",
    /add `declined`/
  ],
  [
    "does not say that it reports answers of destinations",
    withManifest(parley, { tells: (parley.manifest.tells ?? []).filter((one) => one !== "joined") }),
    "transfer: a destination that hangs up",
    /add `joined`/
  ],
  [
    "says that it reports refusals of destinations",
    withTransferred((event) => (event.answered ? [event] : [])),
    "transfer: from a busy destination",
    /what came of the transfer/
  ],
  [
    "takes one transfer for another",
    withTransferred((event) => [{ ...event, transfer: 1 }]),
    "transfer: from a busy destination",
    /what came of the transfer/
  ],
  [
    "forgets how long a destination may ring",
    transfers((begin) => (call, request) => begin(call, { ...request, timeoutSeconds: 300 })),
    "transfer: a destination that rings for too long",
    /what came of the transfer/
  ],
  [
    "lets the destination continue to ring",
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
    /the end of the call is reported/
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

/** Cloudonix reports nothing about a dial before it is over, and proves nothing about it. */
const telling = (what: NonNullable<Manifest["tells"]>[number]): Adapter =>
  withManifest(cloudonix, { tells: [...(cloudonix.manifest.tells ?? []), what] })
/** What follows a dial. */
const followedBy = (documentOf: (mediaUrl: string | undefined) => string): Adapter =>
  withRead(cloudonix, (read, { kind, mediaUrl }) =>
    kind.startsWith("transfer-") ? { ...read, reply: { mediaType: "application/xml", body: documentOf(mediaUrl) } } : read
  )

fail(
  [
    [
      "claims that Cloudonix reports answers of destinations",
      telling("joined"),
      "transfer: a destination that answers",
      /what came of the transfer/
    ],
    [
      "claims that Cloudonix reports refusals of destinations",
      telling("declined"),
      "transfer: from a busy destination",
      /what came of the transfer/
    ],
    [
      "takes a transfer that Cloudonix has accepted for one that was answered",
      withTrunk(cloudonix, ({ transfer }, { onEvent }) => ({
        transfer: (call, request) =>
          Effect.tap(transfer?.(call, request) ?? Effect.void, () =>
            Effect.sync(() => onEvent(call.callId, { _tag: "Transferred", transfer: request.transfer, answered: true }))
          )
      })),
      "transfer: a destination that hangs up",
      /before they have talked/
    ],
    [
      "believes an unsigned report that nobody has answered",
      withRead(cloudonix, (read, { kind }) =>
        kind === "transfer-a" && read.events.length === 0
          ? { ...read, events: [{ event: { _tag: "Transferred", transfer: 1, answered: false, cause: "user_busy" } }] }
          : read
      ),
      "transfer: from a busy destination",
      /add `declined`/
    ],
    [
      "brings back a callee whose conversation is over",
      followedBy(streamTo),
      "transfer: a destination that hangs up",
      /the end of the call is reported/
    ],
    [
      "hangs up on a callee whom nobody answers",
      followedBy(() => hangUp),
      "transfer: from a busy destination",
      /a look finds|is heard again/
    ]
  ],
  openCloudonix
)
