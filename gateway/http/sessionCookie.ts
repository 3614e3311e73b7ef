/**
 * The credential of a browser that shows this engine's own pages: a token or an API key in a cookie, which no script can read. It counts as the
 * `Authorization` header of what these pages request. Other sites cannot use it: browsers send a strict cookie only with requests of the same site, and
 * pages of the same site but another origin (another port of the machine) are told by `Origin`, which browsers send with everything but plain GETs.
 */
import type * as uws from "uWebSockets.js"

const NAME = "trunkline"
/** As long as a token lasts. */
const MAX_AGE_SECONDS = 30 * 24 * 60 * 60
const found = new RegExp(`(?:^|;\\s*)${NAME}=([A-Za-z0-9._-]{1,4096})`)

/** The value of `Authorization`; undefined if the request has no such cookie, or does not come from a page of the same origin. */
export const cookieCredential = (req: uws.HttpRequest): string | undefined => {
  const [, credential] = found.exec(req.getHeader("cookie")) ?? []
  return credential !== undefined && isOwnPage(req) ? `Bearer ${credential}` : undefined
}

const isOwnPage = (req: uws.HttpRequest): boolean => {
  const origin = req.getHeader("origin")
  if (origin === "") return req.getMethod() === "get" && req.getHeader("upgrade") === ""
  return origin.replace(/^https?:\/\//, "") === req.getHeader("host")
}

/** `Set-Cookie` for the credential; an empty one removes the cookie. `origin`: of the page. */
export const sessionCookie = (credential: string, origin: string | undefined): string =>
  [
    `${NAME}=${credential}`,
    "Path=/api/v1",
    "HttpOnly",
    "SameSite=Strict",
    `Max-Age=${credential === "" ? 0 : MAX_AGE_SECONDS}`,
    ...(origin?.startsWith("https:") === true ? ["Secure"] : [])
  ].join("; ")
