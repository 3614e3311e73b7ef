/** Adapters whose transfers have one fault each. */
import { Effect } from "effect"
import type { Adapter, Trunk } from "#core/provider/Adapter.ts"
import type { Manifest } from "#core/provider/Manifest.ts"
import type { TrunkEvent } from "#core/provider/TrunkEvent.ts"
import { withEvents, withManifest, without, withRead, withTrunk } from "./broken.ts"
import cloudonix from "#adapters/cloudonix/cloudonix.ts"
import { streamTo, hangUp } from "#adapters/shared/twiml.ts"
import { openSuiteWorld } from "#test/adapters/hostedSuites.ts"
import { fail } from "./faults.ts"
import { parley } from "./parley.ts"

const transfers = (change: (begin: NonNullable<Trunk["transfer"]>) => NonNullable<Trunk["transfer"]>): Adapter =>
  withTrunk(parley, ({ transfer }) => (transfer === undefined ? {} : { transfer: change(transfer) }))
const withTransferred = (change: (event: Extract<TrunkEvent, { readonly _tag: "Transferred" }>) => ReadonlyArray<TrunkEvent>): Adapter =>
  withEvents(parley, (event) => (event._tag === "Transferred" ? change(event) : [event]))

fail([
  {
    "transfer: the manifest": {
      "does not say that it transfers": [withManifest(parley, { transfers: [] }), /`transfers` and `transfer`/]
    },
    "transfer: a destination that answers": {
      "swallows the outcomes of transfers": [without(parley, "Transferred"), /what came of the transfer/],
      "asks twice before a transfer": [
        transfers((begin) => (call, request) => begin(call, { ...request, leave: () => request.leave() && request.leave() })),
        /asked for once, but saw 2 times/
      ]
    },
    "transfer: a destination that hangs up": {
      "takes an answer for a refusal": [
        withTransferred(({ transfer }) => [{ _tag: "Transferred", transfer, answered: false, cause: "no_answer" }]),
        /an answer to be reported/
      ],
      "does not say that it reports answers of destinations": [
        withManifest(parley, { tells: (parley.manifest.tells ?? []).filter((one) => one !== "joined") }),
        /add `joined`/
      ]
    },
    "transfer: from a busy destination": {
      "takes a busy destination for one that does not answer": [
        withTransferred((event) => [event.answered ? event : { ...event, cause: "no_answer" }]),
        /user_busy/
      ],
      "does not say that it reports refusals of destinations": [
        withManifest(parley, { tells: (parley.manifest.tells ?? []).filter((one) => one !== "declined") }),
        /add `declined`/
      ],
      "says that it reports refusals of destinations": [
        withTransferred((event) => (event.answered ? [event] : [])),
        /what came of the transfer/
      ],
      "takes one transfer for another": [withTransferred((event) => [{ ...event, transfer: 1 }]), /what came of the transfer/]
    },
    "transfer: a destination that rings for too long": {
      "forgets how long a destination may ring": [
        transfers((begin) => (call, request) => begin(call, { ...request, timeoutSeconds: 300 })),
        /what came of the transfer/
      ]
    },
    "transfer: our hang-up while the destination rings": {
      "lets the destination continue to ring": [
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
        /the end of the call is reported/
      ]
    },
    "transfer: without permission": {
      "transfers without permission": [
        transfers((begin) => (call, request) => begin(call, { ...request, leave: () => request.leave() || true })),
        /TransferRefused/
      ]
    }
  },
  Object.fromEntries(
    [true, false].map((places) => {
      const whether = places ? "" : "not "
      const again = transfers(
        (begin) => (call, request) => Effect.catchTag(begin(call, request), "TransferDoubtful", () => begin(call, request))
      )
      return [
        `transfer: a request whose reply is lost is in doubt and not repeated, whether it was ${whether}carried out`,
        {
          [`repeats a transfer whose reply was lost, although it was ${whether}carried out`]: [
            again,
            /TransferDoubtful|calls at the destination's phone/
          ] as const
        }
      ]
    })
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
    {
      "transfer: a destination that answers": {
        "claims that Cloudonix reports answers of destinations": [telling("joined"), /what came of the transfer/]
      },
      "transfer: from a busy destination": {
        "claims that Cloudonix reports refusals of destinations": [telling("declined"), /what came of the transfer/],
        "believes an unsigned report that nobody has answered": [
          withRead(cloudonix, (read, { kind }) =>
            kind === "transfer-a" && read.events.length === 0
              ? { ...read, events: [{ event: { _tag: "Transferred", transfer: 1, answered: false, cause: "user_busy" } }] }
              : read
          ),
          /add `declined`/
        ],
        "hangs up on a callee whom nobody answers": [followedBy(() => hangUp), /a look finds|is heard again/]
      },
      "transfer: a destination that hangs up": {
        "takes a transfer that Cloudonix has accepted for one that was answered": [
          withTrunk(cloudonix, ({ transfer }, { onEvent }) => ({
            transfer: (call, request) =>
              Effect.tap(transfer?.(call, request) ?? Effect.void, () =>
                Effect.sync(() => onEvent(call.callId, { _tag: "Transferred", transfer: request.transfer, answered: true }))
              )
          })),
          /before they have talked/
        ],
        "brings back a callee whose conversation is over": [followedBy(streamTo), /the end of the call is reported/]
      }
    }
  ],
  () => openSuiteWorld("cloudonix")
)
