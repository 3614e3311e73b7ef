/** Endpoints that another engine answers, unless this one decides. */
import { Effect } from "effect"
import type { DecidingEngine, Passage, PassedRequest } from "#core/node/DecidingEngine.ts"
import { type Asked, type Endpoint, failure, type Reply, shuttingDown } from "./Endpoint.ts"

/** The declared path with these parameters. */
const pathOf = (pattern: string, { params, query }: Pick<Asked, "params" | "query">): string => {
  const path = pattern.replace(/:(\w+)/g, (_, name: string) => encodeURIComponent(params[name] ?? ""))
  return query === "" ? path : `${path}?${query}`
}

const passedOf = ({ body, method, path }: Pick<Endpoint<never>, "body" | "method" | "path">, asked: Asked): PassedRequest => ({
  address: asked.client.address,
  body: body === "stream" ? asked.stream : asked.bytes,
  headers: asked.headers,
  id: asked.id,
  method: method.toUpperCase(),
  path: pathOf(path, asked)
})

const refused = failure(503, "No engine is in charge at the moment: try again")
const nobody: Reply = { ...refused, headers: [...refused.headers, ["retry-after", "1"]] }
/** Not a 503, which clients repeat by themselves. */
const lost = failure(
  502,
  "The engine that decides was lost while it had this request: look whether it was carried out, or repeat it with the same Idempotency-Key"
)

/** `by`: which engine answers it. `every`: it changes nothing, and needs nothing that only the engine that decides knows. */
export const passing = <R>(
  endpoint: Endpoint<R>,
  by: "every" | "decider" | "this",
  deciding: typeof DecidingEngine.Service
): Endpoint<R> => {
  if (by === "this") return endpoint
  const answerOf = (asked: Asked, passage: Passage): Effect.Effect<Reply, never, R> => {
    if (passage._tag === "Here") return endpoint.answer(asked)
    if (passage._tag === "Answered") return Effect.succeed(passage.reply)
    return Effect.succeed(passage._tag === "Lost" ? lost : nobody)
  }
  return {
    ...endpoint,
    answer: (asked) => {
      if (deciding.isHere() || (by === "every" && deciding.mayRead())) return endpoint.answer(asked)
      // The other engine took this one for the one that decides.
      if (asked.client.isPassedOn === true) return Effect.succeed(shuttingDown)
      return Effect.flatMap(deciding.pass(passedOf(endpoint, asked)), (passage) => answerOf(asked, passage))
    }
  }
}
