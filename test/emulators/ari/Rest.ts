/** Everything that the emulator serves under /ari except events, audio and its API documents. */
import { isObject, jsonIn } from "#test/emulators/shared/json.ts"
import { channelRoutes } from "./channelRoutes.ts"
import { externalMediaRoutes } from "./externalMediaRoutes.ts"
import { type Answer, AriRefusal, type Asterisk, matcher, type Route } from "./Route.ts"
import { systemRoutes } from "./systemRoutes.ts"

export const routes: ReadonlyArray<Route> = [...channelRoutes, ...externalMediaRoutes, ...systemRoutes]

const match = matcher(routes)

export const placesCall = (method: string, path: string): boolean => match(method, path)?.route.places ?? false

export const answerTo = async (
  asterisk: Asterisk,
  {
    method,
    path,
    query,
    receivedAt,
    text
  }: Readonly<Record<"method" | "path" | "text", string>> & {
    readonly query: URLSearchParams
    readonly receivedAt: number
  }
): Promise<Answer> => {
  const found = match(method, path)
  if (found === undefined) return { status: 404, body: { message: "Resource not found" } }
  const body = text === "" ? {} : jsonIn(text)
  if (!isObject(body)) return { status: 400, body: { message: "Invalid body" } }
  // Asterisk treats the other members of a body as parameters.
  for (const [name, value] of Object.entries(body)) if (typeof value !== "object") query.set(name, String(value))
  const [id = "", secondId = ""] = found.ids
  try {
    return await found.route.handle(asterisk, { id, secondId, query, body, receivedAt })
  } catch (refusal) {
    if (refusal instanceof AriRefusal) return refusal
    throw refusal
  }
}
