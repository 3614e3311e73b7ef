/** `Idempotency-Key`: a repeated request gets the answer of the first one, and nothing is done twice. */
import { Effect, Exit } from "effect"
import Type from "typebox"
import { Idempotency, type KeptAnswer, RequestId, type Taken } from "#core/Idempotency.ts"
import type { Reply } from "#gateway/http/Endpoint.ts"
import { IdempotencyKeyInFlight, IdempotencyKeyReused, refuse } from "./Refusal.ts"
import type { AnyGiven, Route } from "./Route.ts"
import { optional } from "./Field.ts"

const header = "Idempotency-Key"
const keyHeader = optional(
  Type.String({
    minLength: 1,
    maxLength: 255,
    description:
      "Chosen by the client. For 24 hours, the same key with the same request gets the same answer, with `Idempotency-Replayed: true`."
  })
)

/** Makes a route safe to repeat. Its handler creates things under the id in `RequestId`. */
export const idempotent = <R>(route: Route<R>): Route<R | Idempotency> => ({
  ...route,
  headers: Type.Object({ ...route.headers.properties, [header]: keyHeader }),
  errors: [...route.errors, "IdempotencyKeyInFlight", "IdempotencyKeyReused"],
  around: (given, reply) => once(route.name, given, reply)
})

const once = <R>(name: string, given: AnyGiven, reply: Effect.Effect<Reply, never, R>): Effect.Effect<Reply, never, R | Idempotency> => {
  const { body, caller, headers, params } = given
  const key = headers[header]
  if (typeof key !== "string" || caller === undefined) return reply
  const request = { organizationId: caller.organizationId, route: name, key, content: { params, body } }
  // A client that goes away interrupts the work, but not the record of its outcome.
  return Effect.uninterruptibleMask((restore) =>
    Effect.gen(function* () {
      const idempotency = yield* Idempotency
      const taken = yield* idempotency.take(request)
      if (taken._tag !== "Ours") return replyOf(taken)
      const exit = yield* Effect.exit(restore(Effect.provideService(reply, RequestId, taken.id)))
      const kept = Exit.isSuccess(exit) ? keptOf(exit.value) : undefined
      yield* kept === undefined ? idempotency.release(request, taken.id) : idempotency.answer(request, taken.id, kept)
      return yield* exit
    })
  )
}

const replyOf = (taken: Exclude<Taken, { readonly _tag: "Ours" }>): Reply => {
  switch (taken._tag) {
    case "Answered":
      return {
        ...taken.answer,
        headers: [
          ["content-type", "application/json"],
          ["idempotency-replayed", "true"]
        ]
      }
    case "InFlight":
      return refuse(new IdempotencyKeyInFlight())
    case "OtherRequest":
      return refuse(new IdempotencyKeyReused())
  }
}

const tooMany = 429

/** Server errors and 429 are not kept: the same request may succeed at the next try. */
const keptOf = ({ body, isPassing, status }: Reply): KeptAnswer | undefined =>
  typeof body === "string" && status < 500 && status !== tooMany && isPassing !== true ? { status, body } : undefined
