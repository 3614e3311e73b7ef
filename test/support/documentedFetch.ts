/**
 * A `fetch` that checks every answer of an engine's API against the OpenAPI document: an undocumented status, media type or field rejects.
 * Importing this module replaces the global `fetch`, so that everything that talks to the engine is checked, including third-party clients.
 * (The routes of `gatewayTest` are made up and not documented.)
 */
import { builtIn } from "#adapters/builtIn.ts"
import { apiRoutes } from "#gateway/api.ts"
import { type Judge, judgeOf } from "#test/gateway/documented.ts"

const plain = globalThis.fetch
let judge: Judge | undefined
/** Prepared in advance, because the emulated callees run in this process, and anything that blocks it during calls would distort their timing. */
const askedInStories = ["Calls", "Campaigns", "Runs"]
/** Only an engine has such URLs. */
const isOfApi = ({ pathname }: URL): boolean => pathname.startsWith("/api/v1/")

/** `World` shortens retry delays below what the API allows, so that stories need not wait for half a minute; only that is accepted. */
const shortDelay = /("retry_delay_seconds":)[12]?\d\b/g

const documentedFetch: typeof fetch = async (input, init) => {
  const response = await plain(input, init)
  const url = new URL(response.url)
  if (!isOfApi(url)) return response
  const method = response.redirected ? "GET" : (init?.method ?? (input instanceof Request ? input.method : "GET"))
  const headers = Object.fromEntries(response.headers)
  const isJson = headers["content-type"]?.startsWith("application/json") === true
  // The caller reads the answer itself. For anything but JSON only the media type is documented, and the body may never end.
  const text = isJson ? (await response.clone().text()).replaceAll(shortDelay, (_, name) => `${name}30`) : ""
  judge ??= judgeOf(apiRoutes(builtIn), askedInStories)
  const fault = judge(method, url.pathname, { status: response.status, headers, text, json: text === "" ? undefined : JSON.parse(text) })
  if (fault !== undefined) throw new Error(`Not as documented: ${fault}`)
  return response
}

globalThis.fetch = documentedFetch
