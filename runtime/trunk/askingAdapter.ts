/**
 * Ensures that an adapter from a package calls `leave` before sending a request, even if its author forgot. A call sent without that is in no
 * journal: after a crash it would count as never placed, and its contact would be called again. Nor would a pause hold it back.
 */
import { Effect, Exit } from "effect"
import { type Adapter, type OriginateDoubtful, OriginateRefused, type OriginateRequest, type Trunk } from "#core/provider/Adapter.ts"

type Originated = Exit.Exit<{ readonly providerCallId: string }, OriginateRefused | OriginateDoubtful>

/**
 * The engine calls `leave` on the adapter's behalf, right before it hands over the request, until one request has called it itself, and
 * permanently once one has not.
 */
export const askingAdapter = (adapter: Adapter): Adapter => {
  const { connect, manifest } = adapter
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
    ...adapter,
    connect: (config, context) =>
      Effect.map(connect(config, context), (trunk) => withOriginate(trunk, (request) => originate(trunk, request)))
  }
}

/** A refusal without calling `leave` is fine, because nothing was sent. */
const mayHaveLeft = (originated: Originated): boolean =>
  Exit.isSuccess(originated) ||
  originated.cause.reasons.some((reason) => reason._tag === "Fail" && reason.error._tag === "OriginateDoubtful")

/** All members of a trunk. One that is added only to the contract does not compile here. */
const verbs: { readonly [Verb in keyof Required<Trunk>]: true } = {
  originate: true,
  hangup: true,
  lookup: true,
  detects: true,
  openMedia: true,
  reopenMedia: true,
  sendDtmf: true,
  numbers: true,
  transfer: true,
  adopt: true,
  mayAppear: true,
  reconnect: true,
  endpoints: true,
  statusOf: true,
  retire: true
}

/** The trunk with another `originate`. Verbs stay bound to the trunk, which may be an instance of a class. */
const withOriginate = (trunk: Trunk, originate: Trunk["originate"]): Trunk => {
  const bound = Object.keys(verbs).flatMap((verb) => {
    const value: unknown = Reflect.get(trunk, verb)
    if (value === undefined) return []
    return [[verb, typeof value === "function" ? value.bind(trunk) : value] as const]
  })
  // Cast: these are the trunk's own verbs under their own names.
  return { ...(Object.fromEntries(bound) as unknown as Trunk), originate }
}
