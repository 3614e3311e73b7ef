/** Answers to requests for which there is no room or not enough time. No route declares them, because any route may be affected. */
import { Cause, Effect, Result } from "effect"
import { CurrentAddress } from "#core/organization/CurrentTenant.ts"
import { isOverload, type Overload } from "#core/load/Overload.ts"
import type { Client } from "#gateway/http/Client.ts"
import { failure, type Reply } from "#gateway/http/Endpoint.ts"
import { resolved } from "#gateway/http/resolved.ts"

const answers: { readonly [Tag in Overload["_tag"]]: readonly [status: number, detail: string] } = {
  TooManyAtOnce: [429, "Too many of your requests are already waiting, try again in a few seconds"],
  TooBusy: [503, "The engine is overloaded at the moment, try again in a few seconds"],
  TookTooLong: [503, "This takes longer at the moment than a request is allowed to; nothing was changed"]
}

export const overloaded = ({ _tag, retryAfterSeconds }: Overload): Reply => {
  const reply = failure(...answers[_tag])
  return { ...reply, headers: [...reply.headers, ["retry-after", String(retryAfterSeconds)]] }
}

export const overloadOf = <E>(cause: Cause.Cause<E>): Result.Result<Overload, Cause.Cause<E>> => {
  for (const reason of cause.reasons) if (Cause.isDieReason(reason) && isOverload(reason.defect)) return Result.succeed(reason.defect)
  return Result.fail(cause)
}

/**
 * An answer that is known at once cannot have met an overload, so it does not need the client's address, which costs more than such an answer.
 */
export const orOverloaded = <R>(client: Client, reply: Effect.Effect<Reply, never, R>): Effect.Effect<Reply, never, R> =>
  resolved(reply) === undefined
    ? Effect.provideService(
        Effect.catchCauseFilter(reply, overloadOf, (overload) => Effect.succeed(overloaded(overload))),
        CurrentAddress,
        client.address
      )
    : reply
