/** Endpoints that another engine answers, unless this one decides. */
import { Effect } from "effect"
import { type DecidingEngine, PASSED_BY, type PassedRequest } from "#gateway/ports/DecidingEngine.ts"
import { type Asked, type Endpoint, shuttingDown } from "./Endpoint.ts"

/** The declared path with these parameters. */
const pathOf = (pattern: string, { params, query }: Pick<Asked, "params" | "query">): string => {
  const path = pattern.replace(/:(\w+)/g, (_, name: string) => encodeURIComponent(params[name] ?? ""))
  return query === "" ? path : `${path}?${query}`
}

/** `by`: which engine answers it. `any`: it changes nothing, and needs nothing that only the engine that decides knows. */
export const passing = <R>(endpoint: Endpoint<R>, by: "any" | "decider" | "this", deciding: typeof DecidingEngine.Service): Endpoint<R> => {
  if (by === "this") return endpoint
  const { body, method, path } = endpoint
  const passed = ({ bytes, client, headers, id, params, query, stream }: Asked): PassedRequest => ({
    body,
    bytes,
    client,
    headers,
    id,
    method,
    path: pathOf(path, { params, query }),
    stream
  })
  return {
    ...endpoint,
    headers: [...endpoint.headers, PASSED_BY],
    answer: (asked) => {
      if (deciding.isHere() || (by === "any" && deciding.mayRead())) return endpoint.answer(asked)
      // The other engine took this one for the one that decides.
      if (deciding.clientOf(asked.headers[PASSED_BY] ?? "", asked.id) !== undefined) return Effect.succeed(shuttingDown)
      return Effect.flatMap(deciding.pass(passed(asked)), (reply) => (reply === undefined ? endpoint.answer(asked) : Effect.succeed(reply)))
    }
  }
}
