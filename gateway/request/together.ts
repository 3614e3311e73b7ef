/**
 * What many watch at once: an event makes every open console ask for the same. While one answer to an organization is being made, the requests that come
 * wait for the next one, which serves all of them. So each gets an answer that was begun after it asked, and a request that comes alone waits for nobody.
 */
import { Deferred, Effect } from "effect"
import { type Reply, timedOut } from "#gateway/http/Endpoint.ts"
import type { AnyGiven, Route } from "./Route.ts"

/** Only after an answer for which others have waited: the requests that an event causes come within some milliseconds. */
const GATHERING = "20 millis"
/** Otherwise, requests that come later would wait for an answer that never comes. */
const LONGEST = "30 seconds"

type Replied = Deferred.Deferred<Reply>
interface Round {
  /** For those who have come since the answer was begun. */
  next: Replied | undefined
}

/** For a `get` whose answer depends on nothing but the organization, the caller's role and the address. */
export const together = <R>(route: Route<R>): Route<R> => {
  const rounds = new Map<string, Round>()
  const serve = <A>(key: string, round: Round, reply: Effect.Effect<Reply, never, A>, first: Replied): Effect.Effect<void, never, A> =>
    Effect.gen(function* () {
      let served: Replied | undefined = first
      while (served !== undefined) {
        Deferred.doneUnsafe(served, yield* Effect.exit(reply))
        if (round.next !== undefined) yield* Effect.sleep(GATHERING)
        served = round.next
        round.next = undefined
      }
      rounds.delete(key)
    })
  return {
    ...route,
    around: (given, reply) =>
      Effect.suspend(() => {
        const key = keyOf(given)
        const round = rounds.get(key)
        if (round !== undefined) return Deferred.await((round.next ??= Deferred.makeUnsafe()))
        const replied: Replied = Deferred.makeUnsafe()
        const begun: Round = { next: undefined }
        rounds.set(key, begun)
        const bounded = Effect.timeoutOrElse(reply, { duration: LONGEST, orElse: () => Effect.succeed(timedOut) })
        // It goes on when its client goes away, because others may wait for it.
        return Effect.andThen(Effect.forkDetach(serve(key, begun, bounded, replied), { startImmediately: true }), Deferred.await(replied))
      })
  }
}

const keyOf = ({ caller, params, query }: AnyGiven): string => JSON.stringify([caller?.organizationId, caller?.role, params, query])
