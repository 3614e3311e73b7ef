/** The answer to a request whose handler has succeeded. */
import { Compile } from "typebox/compile"
import { type Asked, json, redirect, type Reply } from "#gateway/http/Endpoint.ts"
import { contentReply } from "./content.ts"
import type { Content, Listed, Route } from "./Route.ts"

type Respond = (value: unknown, asked: Asked) => Reply

/** `checksAnswers`: every answer is checked against its own schema; one that does not fit becomes a 500. */
export const responder = <R>({ name, path, success }: Route<R>, checksAnswers: boolean): Respond => {
  // `download` admits handlers of Content only.
  if (success._tag === "Content") return (value, asked) => contentReply(value as Content, asked.headers)
  // `redirect` admits handlers of a URL only.
  if (success._tag === "Redirect") return (value) => redirect(value as string)
  const validator = checksAnswers ? Compile(success.schema) : undefined
  const answer = (value: unknown): Reply => {
    if (validator?.Check(value) === false) {
      throw new Error(`${name} does not answer as declared: ${JSON.stringify(validator.Errors(value))}`)
    }
    return json(200, value)
  }
  if (!success.isListed) return answer
  return (value, asked) => {
    // `list` admits handlers of a part of a list only.
    const { body, next } = value as Listed<unknown>
    const reply = answer(body)
    return next === undefined ? reply : { ...reply, headers: [...reply.headers, ["link", linkTo(path, asked, next)]] }
  }
}

/** The same request for the next part of the list. */
const linkTo = (path: string, { params, query }: Asked, next: NonNullable<Listed<unknown>["next"]>): string => {
  const place = path.replaceAll(/:([a-z_]+)/g, (_, name: string) => encodeURIComponent(params[name] ?? ""))
  const parameters = new URLSearchParams(query)
  for (const [name, value] of Object.entries(next)) {
    if (value === undefined) parameters.delete(name)
    else parameters.set(name, value)
  }
  return `<${place}?${parameters}>; rel="next"`
}
