/**
 * Has an adapter from a package ask whether a request may leave, whatever its author has thought of. A call that leaves unasked is in no
 * journal: after a crash it would count as never placed, and its contact would be called again; and no pause would hold it back.
 */
import { Effect, Exit } from "effect"
import { type Adapter, type OriginateDoubtful, OriginateRefused, type OriginateRequest, type Trunk } from "#core/provider/Adapter.ts"

type Originated = Exit.Exit<{ readonly providerCallId: string }, OriginateRefused | OriginateDoubtful>

/** Asked for it right before the request is handed over, until one of its requests has asked; and from then on, if one has not. */
export const askingAdapter = ({ connect, fields, manifest }: Adapter): Adapter => {
  let standing: "unknown" | "asks" | "failed" = "unknown"

  const judge = (asked: boolean, originated: Originated) => {
    if (asked) standing = standing === "unknown" ? "asks" : standing
    if (asked || standing === "failed" || !mayHaveLeft(originated)) return Effect.void
    standing = "failed"
    return Effect.logError("an adapter does not ask whether a request may leave: the engine asks for it", { provider: manifest.provider })
  }

  const originate = Effect.fnUntraced(function* (trunk: Trunk, request: OriginateRequest) {
    let asked = false
    const leave = (endpoint?: string) => {
      asked = true
      return request.leave(endpoint)
    }
    if (standing !== "asks" && !request.leave()) {
      return yield* new OriginateRefused({ reason: "permit_lapsed", detail: "it may not leave" })
    }
    return yield* Effect.onExit(trunk.originate({ ...request, leave }), (originated) => judge(asked, originated))
  })

  return {
    fields,
    manifest,
    connect: (config, context) =>
      Effect.map(connect(config, context), (trunk) => withOriginate(trunk, (request) => originate(trunk, request)))
  }
}

/** A refusal without having asked is in order: there was nothing to send. */
const mayHaveLeft = (originated: Originated): boolean =>
  Exit.isSuccess(originated) ||
  originated.cause.reasons.some((reason) => reason._tag === "Fail" && reason.error._tag === "OriginateDoubtful")

/** Each verb is called on the trunk itself, which may be an object of a class. */
const withOriginate = (trunk: Trunk, originate: Trunk["originate"]): Trunk => ({
  originate,
  hangup: (callId, cause) => trunk.hangup(callId, cause),
  lookup: (callId) => trunk.lookup(callId),
  openMedia: (callId) => trunk.openMedia(callId),
  sendDtmf: (callId, digits) => trunk.sendDtmf(callId, digits),
  adopt: (callId, endpoint) => trunk.adopt(callId, endpoint),
  mayAppear: (request) => trunk.mayAppear?.(request) ?? true,
  reconnect: () => trunk.reconnect?.(),
  endpoints: () => trunk.endpoints?.() ?? [],
  ...(trunk.statusOf === undefined ? {} : { statusOf: (callId) => trunk.statusOf?.(callId) ?? { _tag: "Connecting" } }),
  ...(trunk.retire === undefined ? {} : { retire: trunk.retire })
})
