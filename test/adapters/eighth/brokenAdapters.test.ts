/** Tests the suite itself: each fault of an adapter makes the right case fail, which says what was expected and seen. */
import { createHmac } from "node:crypto"
import { Effect } from "effect"
import type { CallId } from "#core/Id.ts"
import { type Adapter, OriginateDoubtful, type Trunk } from "#core/provider/Adapter.ts"
import type { Callback } from "#core/provider/Callback.ts"
import {
  doubtful,
  refused,
  searchingByNumber,
  whereDoubtful,
  withCause,
  withContext,
  withEvents,
  withManifest,
  without,
  withRead,
  withStream,
  withTrunk
} from "./broken.ts"
import { parley } from "./parley.ts"
import { account } from "./ParleyEmulator.ts"
import { fail, type Fault } from "./faults.ts"

const { signs = [], tells = [] } = parley.manifest

const originates = (change: (trunk: Trunk) => Trunk["originate"]): Adapter => withTrunk(parley, (trunk) => ({ originate: change(trunk) }))

/** Reads anything that claims to be a callback as if Parley had signed it now. */
const believing = (of: (callback: Callback) => Partial<Callback>): Adapter => ({
  ...parley,
  read: (config, callback) => {
    const given = { ...callback, ...of(callback) }
    const time = Math.floor(given.at / 1000)
    const signature = createHmac("sha256", account.signingKey)
      .update(`${time}.${given.url}.${Buffer.from(given.body)}`)
      .digest("hex")
    return parley.read?.(config, { ...given, headers: { ...given.headers, "parley-signature": `t=${time},v1=${signature}` } })
  }
})
const credulous = believing(() => ({}))

let latest: CallId | undefined
const confused = withRead(
  originates(({ originate }) => (request) => {
    latest = request.callId
    return originate(request)
  }),
  (read) => ({ ...read, events: read.events.map(({ event }) => (latest === undefined ? { event } : { call: { callId: latest }, event })) })
)

const scrambled = (frame: Uint8Array): Uint8Array => frame.map((code) => code ^ 0x55)

const places: ReadonlyArray<Fault> = [
  [
    "repeats a request whose reply was lost",
    whereDoubtful(parley, (again) => again),
    "lost reply: a request that was lost",
    /OriginateDoubtful, but saw success/
  ],
  [
    "takes a lost reply for a refusal",
    whereDoubtful(parley, () => refused("unreachable")),
    "lost reply: a request that was lost",
    /OriginateDoubtful, but saw OriginateRefused/
  ],
  [
    "takes an empty object for a call",
    whereDoubtful(parley, () => Effect.succeed({ providerCallId: "pc_1" })),
    "lost reply: an empty object proves nothing, whether the call was not placed",
    /OriginateDoubtful, but saw success/
  ],
  [
    "takes a refused rate for doubt",
    originates(
      ({ originate }) =>
        (request) =>
          Effect.catchTag(originate(request), "OriginateRefused", () => doubtful)
    ),
    "refusal: rate_limited",
    /rate_limited, but saw OriginateDoubtful/
  ],
  [
    "asks for permission twice",
    originates(
      ({ originate }) =>
        (request) =>
          originate({ ...request, leave: () => request.leave() && request.leave() })
    ),
    "originate: permission",
    /asked for once, but saw 2 times/
  ],
  [
    "originates without permission",
    originates(
      ({ originate }) =>
        (request) =>
          originate({ ...request, leave: () => request.leave() || true })
    ),
    "originate: without permission",
    /permit_lapsed, but saw success/
  ],
  [
    "dials twice",
    originates(
      ({ originate }) =>
        (request) =>
          Effect.andThen(originate(request), originate(request))
    ),
    "originate: a call is placed once",
    /requests for the call: 1, but saw 2/
  ],
  [
    "dials without an address for callbacks",
    withContext(parley, () => ({ callbackUrl: () => "http://127.0.0.1:9/" })),
    "originate: without a public address",
    /but saw success/
  ],
  ["reports everything for the latest call", confused, "originate: two calls at once", /is reported, but saw/],
  [
    "quotes numbers",
    originates(
      ({ originate }) =>
        (request) =>
          Effect.mapError(originate(request), () => new OriginateDoubtful({ detail: `no reply about ${request.to}` }))
    ),
    "lost reply: a request that was lost",
    /words without the number/
  ],
  [
    "has a setup step that cannot be completed",
    {
      ...parley,
      setup: () => [{ blocksOutbound: true, description: "Wait", isComplete: false, key: "wait", title: "Wait" }]
    },
    "originate: without a public address",
    /nothing to be missing/
  ],
  [
    "forgets how long a phone may ring",
    originates(
      ({ originate }) =>
        (request) =>
          originate({ ...request, ringTimeoutSeconds: 300 })
    ),
    "outcome: a phone that rings for too long",
    /the end of the call is reported, but saw/
  ],
  [
    "shows a secret",
    withContext(parley, ({ onStatus }) => ({
      onStatus: (status) => onStatus(status._tag === "Down" ? { ...status, detail: "par_9999" } : status)
    })),
    "refusal: with wrong credentials",
    /words without a secret/
  ],
  ["finds nothing wrong with wrong credentials", { ...parley, verify: () => Effect.void }, "refusal: a configuration", /wrong credentials/]
]

const tellsOf: ReadonlyArray<Fault> = [
  ["swallows answers", without(parley, "Answered"), "originate: a call is placed once", /the answer to be reported/],
  ["swallows ends", without(parley, "HungUp"), "hang-up: a callee", /the end of the call is reported/],
  [
    "takes busy for an ordinary end",
    withCause(parley, "user_busy", "normal_clearing"),
    "outcome: a callee of the kind busy",
    /user_busy, but saw normal_clearing/
  ],
  [
    "reports answers of busy callees",
    withEvents(parley, (event) => (event._tag === "HungUp" ? [{ _tag: "Answered" }, event] : [event])),
    "outcome: a callee of the kind busy",
    /no answer to be reported/
  ],
  [
    "takes machines for people",
    withEvents(parley, (event) => [event._tag === "Detected" ? { ...event, who: "human" } : event]),
    "outcome: a machine",
    /a machine, but saw human/
  ],
  [
    "detects unasked",
    originates(
      ({ originate }) =>
        (request) =>
          originate({ ...request, detect: "who" })
    ),
    "outcome: nobody is detected",
    /nobody to be detected/
  ],
  [
    "reports a negative cost",
    withEvents(parley, (event) => [event._tag === "Billed" ? { ...event, amount: `-${event.amount}` } : event]),
    "outcome: what a call cost",
    /without a sign/
  ],
  ["names no call", without(parley, "Named"), "lost reply: a call that was placed", /the hang-up to succeed/],
  [
    "drops ends before the call is named",
    withRead(parley, (read, { call }) =>
      call?.providerCallId === undefined ? { ...read, events: read.events.filter(({ event }) => event._tag !== "HungUp") } : read
    ),
    "order: callbacks report the same",
    /as in their own order/
  ],
  [
    "gives all deliveries one id",
    withRead(parley, (read) => ({ ...read, deliveryId: read.events.some(({ event }) => event._tag === "HungUp") ? "2" : "1" })),
    "repeated: ",
    /another id for another event/
  ],
  ["swallows keys", without(parley, "Dtmf"), "keys: those of the callee", /but saw ""/],
  [
    "reports keys twice",
    withEvents(parley, (event) => (event._tag === "Dtmf" ? [event, event] : [event])),
    "keys: those of the callee",
    /1122/
  ]
]

const believes: ReadonlyArray<Fault> = [
  ["believes forged callbacks", credulous, "forged: ", /an unsigned callback \(call\) to be refused/],
  ["believes altered bodies", credulous, "altered: a changed body", /every change of the body to be refused/],
  ["believes another address", credulous, "altered: another address", /every change of the address/],
  [
    "believes old callbacks",
    believing(({ headers }) => ({ at: Number(/t=(\d+)/.exec(headers["parley-signature"] ?? "")?.[1] ?? 0) * 1000 })),
    "expired: ",
    /every change of the time/
  ],
  [
    "believes an end that nothing proves, and declares that bodies are unsigned",
    withManifest(credulous, { signs: [] }),
    "altered: an end",
    /no end and no cost from such a callback/
  ],
  [
    "does not report ends that nothing proves",
    without(withManifest(credulous, { signs: [] }), "HungUp"),
    "hang-up: a callee",
    /the end of the call is reported/
  ],
  ["claims a nonce", withManifest(parley, { signs: [...signs, "nonce"] }), "repeated: ", /a nonce, but saw undefined/],
  ["claims signed sockets", withManifest(parley, { signs: [...signs, "socket"] }), "socket: ", /a refusal/],
  [
    "does not say that bodies are signed",
    withManifest(parley, { signs: signs.filter((one) => one !== "body") }),
    "altered: a changed body",
    /add `body` to `signs`/
  ],
  [
    "does not say that the time is signed",
    withManifest(parley, { signs: signs.filter((one) => one !== "time") }),
    "expired: ",
    /add `time` to `signs`/
  ],
  ["does not mention signatures", withManifest(parley, { signs: [] }), "forged: ", /say in `signs` what is signed/]
]

const undeclared: ReadonlyArray<readonly [what: (typeof tells)[number], caseName: string, message: RegExp]> = [
  ["ringing", "outcome: ringing", /no `Rang`/],
  ["answerer", "outcome: a machine", /add `answerer` to `tells`/],
  ["cost", "outcome: what a call cost", /add `cost` to `tells`/],
  ["keys", "keys: those of the callee", /add `keys` to `tells`/],
  ["unnamed", "lost reply: if nothing was reported", /add `unnamed` to `tells`/]
]

const manifests: ReadonlyArray<Fault> = [
  ...undeclared.map(
    ([what, caseName, message]): Fault => [
      `does not say that ${what} is reported`,
      withManifest(parley, { tells: tells.filter((one) => one !== what) }),
      caseName,
      message
    ]
  ),
  ["claims to report a queue", withManifest(parley, { tells: [...tells, "queue"] }), "restart: a call that is queued", /`holdQueue`/],
  ["claims to report ringing", without(parley, "Rang"), "outcome: ringing", /Rang is reported, but saw/]
]

const verbs: ReadonlyArray<Fault> = [
  [
    "never hangs up",
    withTrunk(parley, () => ({ hangup: () => Effect.void })),
    "hang-up: a look finds a call that is up",
    /the end of the call is reported/
  ],
  [
    "does not hang up calls that were only just accepted",
    withTrunk(parley, () => ({ hangup: () => Effect.void })),
    "hang-up: a call that was only just accepted",
    /a look finds the call ended/
  ],
  [
    "fails to hang up calls that have ended",
    withTrunk(parley, ({ hangup, lookup }) => ({
      hangup: (call, cause) =>
        Effect.flatMap(Effect.orDie(lookup(call)), ({ presence }) =>
          presence === "ended" ? Effect.die(new Error("it has ended")) : hangup(call, cause)
        )
    })),
    "hang-up: of a call that has already ended",
    /it has ended/
  ],
  [
    "sees live calls as gone",
    withTrunk(parley, () => ({ lookup: () => Effect.succeed({ presence: "gone", told: [] }) })),
    "restart: a call that is up",
    /a look finds the call up/
  ],
  [
    "takes a missing call for proof",
    withTrunk(parley, () => ({ lookup: () => Effect.succeed({ presence: "never_placed", told: [] }) })),
    "lost reply: if nothing was reported",
    /no proof that it is over/
  ],
  [
    "knows only calls of its own process",
    withTrunk(parley, ({ hangup, originate }) => {
      const own = new Set<string>()
      return {
        hangup: (call, cause) => (own.has(call.callId) ? hangup(call, cause) : Effect.void),
        originate: (request) => originate(request).pipe(Effect.tap(() => Effect.sync(() => own.add(request.callId))))
      }
    }),
    "restart: a call that is ringing",
    /the end of the call is reported/
  ],
  [
    "takes another attempt's call for one that was never placed",
    searchingByNumber(parley),
    "lost reply: another call to the same number",
    /no call to be found, but saw .*Named/
  ],
  [
    "takes another attempt's call for one that was lost",
    searchingByNumber(parley),
    "lost reply: of two calls to the same number",
    /the id of its own call, but saw that of the other/
  ],
  ["sends no keys", withTrunk(parley, () => ({ sendDtmf: () => Effect.void })), "keys: ours", /the callee gets/]
]

const sounds: ReadonlyArray<Fault> = [
  [
    "hears noise",
    withStream(parley, (stream) => ({
      listen: (listener) => stream.listen({ ...listener, closed: listener.closed, frame: (frame) => listener.frame(scrambled(frame)) })
    })),
    "audio: the callee is heard",
    /us to hear a tone/
  ],
  [
    "says noise",
    withStream(parley, (stream) => ({ send: (frame) => stream.send(scrambled(frame)) })),
    "audio: the callee hears us",
    /the callee to hear a tone/
  ],
  ["says nothing", withStream(parley, () => ({ send: () => true })), "audio: the callee hears us", /sound at the callee/],
  ["clears nothing", withStream(parley, () => ({ clear: () => {} })), "audio: what is cleared", /less than half of 100 frames/],
  ["reports no marks", withStream(parley, () => ({ mark: () => true })), "audio: a mark", /the mark is reported/],
  [
    "reports marks as cleared",
    withStream(parley, (stream) => ({
      listen: (listener) => stream.listen({ ...listener, marked: (name) => listener.marked?.(name, "cleared") })
    })),
    "audio: a mark",
    /one mark that was played/
  ],
  [
    "fails at an orderly end",
    withStream(parley, (stream) => ({
      listen: (listener) => stream.listen({ ...listener, closed: (_, why) => listener.closed("failed", why) })
    })),
    "audio: where the carrier opens it",
    /no failure of the audio/
  ]
]

fail([...places, ...tellsOf, ...believes, ...manifests, ...verbs, ...sounds])
