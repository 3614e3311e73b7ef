/** Tests the suite itself: each fault of an adapter makes the right case fail, which says what was expected and seen. */
import { createHmac } from "node:crypto"
import { Effect } from "effect"
import type { CallId } from "#core/Id.ts"
import { type Adapter, OriginateDoubtful, type OriginateRequest, type Trunk } from "#core/provider/Adapter.ts"
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
import { signingKey } from "./ParleyEmulator.ts"
import { fail, type Faults } from "./faults.ts"

const { signs = [], tells = [] } = parley.manifest

const originates = (change: (originate: Trunk["originate"], request: OriginateRequest) => ReturnType<Trunk["originate"]>): Adapter =>
  withTrunk(parley, ({ originate }) => ({ originate: (request) => change(originate, request) }))

/** Reads anything that claims to be a callback as if Parley had signed it now. */
const believing = (of: (callback: Callback) => Partial<Callback>): Adapter => ({
  ...parley,
  read: (config, callback) => {
    const given = { ...callback, ...of(callback) }
    const time = Math.floor(given.at / 1000)
    const signature = createHmac("sha256", signingKey)
      .update(`${time}.${given.url}.${Buffer.from(given.body)}`)
      .digest("hex")
    return parley.read?.(config, { ...given, headers: { ...given.headers, "parley-signature": `t=${time},v1=${signature}` } })
  }
})
const credulous = believing(() => ({}))

let latest: CallId | undefined
const confused = withRead(
  originates((originate, request) => {
    latest = request.callId
    return originate(request)
  }),
  (read) => ({ ...read, events: read.events.map(({ event }) => (latest === undefined ? { event } : { call: { callId: latest }, event })) })
)

const scrambled = (frame: Uint8Array): Uint8Array => frame.map((code) => code ^ 0x55)

const places: Faults = {
  "lost reply: a request that was lost": {
    "repeats a request whose reply was lost": [whereDoubtful(parley, (again) => again), /OriginateDoubtful, but saw success/],
    "takes a lost reply for a refusal": [
      whereDoubtful(parley, () => refused("unreachable")),
      /OriginateDoubtful, but saw OriginateRefused/
    ],
    "quotes numbers": [
      originates((originate, request) =>
        Effect.mapError(originate(request), () => new OriginateDoubtful({ detail: `no reply about ${request.to}` }))
      ),
      /words without the number/
    ]
  },
  "lost reply: an empty object proves nothing, whether the call was not placed": {
    "takes an empty object for a call": [
      whereDoubtful(parley, () => Effect.succeed({ providerCallId: "pc_1" })),
      /OriginateDoubtful, but saw success/
    ]
  },
  "refusal: rate_limited": {
    "takes a refused rate for doubt": [
      originates((originate, request) => Effect.catchTag(originate(request), "OriginateRefused", () => doubtful)),
      /rate_limited, but saw OriginateDoubtful/
    ]
  },
  "originate: permission": {
    "asks for permission twice": [
      originates((originate, request) => originate({ ...request, leave: () => request.leave() && request.leave() })),
      /asked for once, but saw 2 times/
    ]
  },
  "originate: without permission": {
    "originates without permission": [
      originates((originate, request) => originate({ ...request, leave: () => request.leave() || true })),
      /permit_lapsed, but saw success/
    ]
  },
  "originate: a call is placed once": {
    "dials twice": [
      originates((originate, request) => Effect.andThen(originate(request), originate(request))),
      /requests for the call: 1, but saw 2/
    ]
  },
  "originate: without a public address": {
    "dials without an address for callbacks": [
      withContext(parley, () => ({ callbackUrl: () => "http://127.0.0.1:9/" })),
      /but saw success/
    ],
    "has a setup step that cannot be completed": [
      { ...parley, setup: () => [{ blocksOutbound: true, description: "Wait", isComplete: false, key: "wait", title: "Wait" }] },
      /nothing to be missing/
    ]
  },
  "originate: two calls at once": {
    "reports everything for the latest call": [confused, /is reported, but saw/]
  },
  "outcome: a phone that rings for too long": {
    "forgets how long a phone may ring": [
      originates((originate, request) => originate({ ...request, ringTimeoutSeconds: 300 })),
      /the end of the call is reported, but saw/
    ]
  },
  "refusal: with wrong credentials": {
    "shows a secret": [
      withContext(parley, ({ onStatus }) => ({
        onStatus: (status) => onStatus(status._tag === "Down" ? { ...status, detail: "par_9999" } : status)
      })),
      /words without a secret/
    ]
  },
  "refusal: a configuration": {
    "finds nothing wrong with wrong credentials": [{ ...parley, verify: () => Effect.void }, /wrong credentials/]
  }
}

const tellsOf: Faults = {
  "originate: a call is placed once": {
    "swallows answers": [without(parley, "Answered"), /the answer to be reported/]
  },
  "hang-up: a callee": {
    "swallows ends": [without(parley, "HungUp"), /the end of the call is reported/]
  },
  "outcome: a callee of the kind busy": {
    "takes busy for an ordinary end": [withCause(parley, "user_busy", "normal_clearing"), /user_busy, but saw normal_clearing/],
    "reports answers of busy callees": [
      withEvents(parley, (event) => (event._tag === "HungUp" ? [{ _tag: "Answered" }, event] : [event])),
      /no answer to be reported/
    ]
  },
  "outcome: a machine": {
    "takes machines for people": [
      withEvents(parley, (event) => [event._tag === "Detected" ? { ...event, who: "human" } : event]),
      /a machine, but saw human/
    ]
  },
  "outcome: nobody is detected": {
    "detects unasked": [originates((originate, request) => originate({ ...request, detect: "who" })), /nobody to be detected/]
  },
  "outcome: what a call cost": {
    "reports a negative cost": [
      withEvents(parley, (event) => [event._tag === "Billed" ? { ...event, amount: `-${event.amount}` } : event]),
      /without a sign/
    ]
  },
  "lost reply: a call that was placed": {
    "names no call": [without(parley, "Named"), /the hang-up to succeed/]
  },
  "order: callbacks report the same": {
    "drops ends before the call is named": [
      withRead(parley, (read, { call }) =>
        call?.providerCallId === undefined ? { ...read, events: read.events.filter(({ event }) => event._tag !== "HungUp") } : read
      ),
      /as in their own order/
    ]
  },
  "repeated: ": {
    "gives all deliveries one id": [
      withRead(parley, (read) => ({ ...read, deliveryId: read.events.some(({ event }) => event._tag === "HungUp") ? "2" : "1" })),
      /another id for another event/
    ]
  },
  "keys: those of the callee": {
    "swallows keys": [without(parley, "Dtmf"), /but saw ""/],
    "reports keys twice": [withEvents(parley, (event) => (event._tag === "Dtmf" ? [event, event] : [event])), /1122/]
  }
}

const believes: Faults = {
  "forged: ": {
    "believes forged callbacks": [credulous, /an unsigned callback \(call\) to be refused/],
    "does not mention signatures": [withManifest(parley, { signs: [] }), /say in `signs` what is signed/]
  },
  "altered: a changed body": {
    "believes altered bodies": [credulous, /every change of the body to be refused/],
    "does not say that bodies are signed": [withManifest(parley, { signs: signs.filter((one) => one !== "body") }), /add `body` to `signs`/]
  },
  "altered: another address": {
    "believes another address": [credulous, /every change of the address/]
  },
  "expired: ": {
    "believes old callbacks": [
      believing(({ headers }) => ({ at: Number(/t=(\d+)/.exec(headers["parley-signature"] ?? "")?.[1] ?? 0) * 1000 })),
      /every change of the time/
    ],
    "does not say that the time is signed": [
      withManifest(parley, { signs: signs.filter((one) => one !== "time") }),
      /add `time` to `signs`/
    ]
  },
  "altered: an end": {
    "believes an end that nothing proves, and declares that bodies are unsigned": [
      withManifest(credulous, { signs: [] }),
      /no end and no cost from such a callback/
    ]
  },
  "hang-up: a callee": {
    "does not report ends that nothing proves": [
      without(withManifest(credulous, { signs: [] }), "HungUp"),
      /the end of the call is reported/
    ]
  },
  "repeated: ": {
    "claims a nonce": [withManifest(parley, { signs: [...signs, "nonce"] }), /a nonce, but saw undefined/]
  },
  "socket: ": {
    "claims signed sockets": [withManifest(parley, { signs: [...signs, "socket"] }), /a refusal/]
  }
}

const undeclared: ReadonlyArray<readonly [what: (typeof tells)[number], caseName: string, message: RegExp]> = [
  ["ringing", "outcome: ringing", /no `Rang`/],
  ["answerer", "outcome: a machine", /add `answerer` to `tells`/],
  ["cost", "outcome: what a call cost", /add `cost` to `tells`/],
  ["keys", "keys: those of the callee", /add `keys` to `tells`/],
  ["unnamed", "lost reply: if nothing was reported", /add `unnamed` to `tells`/]
]

const manifests: Faults = {
  "restart: a call that is queued": {
    "claims to report a queue": [withManifest(parley, { tells: [...tells, "queue"] }), /`holdQueue`/]
  },
  "outcome: ringing": {
    "claims to report ringing": [without(parley, "Rang"), /Rang is reported, but saw/]
  }
}

const reticent: Faults = Object.fromEntries(
  undeclared.map(([what, caseName, message]) => [
    caseName,
    { [`does not say that ${what} is reported`]: [withManifest(parley, { tells: tells.filter((one) => one !== what) }), message] as const }
  ])
)

const verbs: Faults = {
  "hang-up: a look finds a call that is up": {
    "never hangs up": [withTrunk(parley, () => ({ hangup: () => Effect.void })), /the end of the call is reported/]
  },
  "hang-up: a call that was only just accepted": {
    "does not hang up calls that were only just accepted": [
      withTrunk(parley, () => ({ hangup: () => Effect.void })),
      /a look finds the call ended/
    ]
  },
  "hang-up: of a call that has already ended": {
    "fails to hang up calls that have ended": [
      withTrunk(parley, ({ hangup, lookup }) => ({
        hangup: (call, cause) =>
          Effect.flatMap(Effect.orDie(lookup(call)), ({ presence }) =>
            presence === "ended" ? Effect.die(new Error("it has ended")) : hangup(call, cause)
          )
      })),
      /it has ended/
    ]
  },
  "restart: a call that is up": {
    "sees live calls as gone": [
      withTrunk(parley, () => ({ lookup: () => Effect.succeed({ presence: "gone", told: [] }) })),
      /a look finds the call up/
    ]
  },
  "lost reply: if nothing was reported": {
    "takes a missing call for proof": [
      withTrunk(parley, () => ({ lookup: () => Effect.succeed({ presence: "never_placed", told: [] }) })),
      /no proof that it is over/
    ]
  },
  "restart: a call that is ringing": {
    "knows only calls of its own process": [
      withTrunk(parley, ({ hangup, originate }) => {
        const own = new Set<string>()
        return {
          hangup: (call, cause) => (own.has(call.callId) ? hangup(call, cause) : Effect.void),
          originate: (request) => originate(request).pipe(Effect.tap(() => Effect.sync(() => own.add(request.callId))))
        }
      }),
      /the end of the call is reported/
    ]
  },
  "lost reply: another call to the same number": {
    "takes another attempt's call for one that was never placed": [searchingByNumber(parley), /no call to be found, but saw .*Named/]
  },
  "lost reply: of two calls to the same number": {
    "takes another attempt's call for one that was lost": [searchingByNumber(parley), /the id of its own call, but saw that of the other/]
  },
  "keys: ours": {
    "sends no keys": [withTrunk(parley, () => ({ sendDtmf: () => Effect.void })), /the callee gets/]
  }
}

const sounds: Faults = {
  "audio: the callee is heard": {
    "hears noise": [
      withStream(parley, (stream) => ({
        listen: (listener) => stream.listen({ ...listener, closed: listener.closed, frame: (frame) => listener.frame(scrambled(frame)) })
      })),
      /us to hear a tone/
    ]
  },
  "audio: the callee hears us": {
    "says noise": [withStream(parley, (stream) => ({ send: (frame) => stream.send(scrambled(frame)) })), /the callee to hear a tone/],
    "says nothing": [withStream(parley, () => ({ send: () => true })), /sound at the callee/]
  },
  "audio: what is cleared": {
    "clears nothing": [withStream(parley, () => ({ clear: () => {} })), /less than half of 100 frames/]
  },
  "audio: a mark": {
    "reports no marks": [withStream(parley, () => ({ mark: () => true })), /the mark is reported/],
    "reports marks as cleared": [
      withStream(parley, (stream) => ({
        listen: (listener) => stream.listen({ ...listener, marked: (name) => listener.marked?.(name, "cleared") })
      })),
      /one mark that was played/
    ]
  },
  "audio: where the carrier opens it": {
    "fails at an orderly end": [
      withStream(parley, (stream) => ({
        listen: (listener) => stream.listen({ ...listener, closed: (_, why) => listener.closed("failed", why) })
      })),
      /no failure of the audio/
    ]
  }
}

fail([places, tellsOf, believes, manifests, reticent, verbs, sounds])
