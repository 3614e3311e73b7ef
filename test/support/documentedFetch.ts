/**
 * `fetch` that holds every answer of an engine's API against the OpenAPI document: what is not documented (a status, a media type, a field)
 * rejects. To import this is to have it in the place of the global one, so that whatever speaks to the engine is held to it, a client of
 * others too. (The routes of `gatewayTest` are made up, and in no document.)
 */
import { builtIn } from "#adapters/index.ts"
import { apiRoutes } from "#gateway/api.ts"
import { type Judge, judgeOf } from "#test/gateway/documented.ts"

const plain = globalThis.fetch
let judge: Judge | undefined
/** The emulated callees are in this process: what held it up while calls are made would blur when they were called. */
const askedInStories = ["Calls", "Campaigns", "Runs"]
/** Nobody but an engine has such addresses. */
const isOfApi = ({ pathname }: URL): boolean => pathname.startsWith("/api/v1/")

/** Stories do not wait for half a minute: `World` shortens retries past what the API allows, and that alone is let pass. */
const shortDelay = /("retry_delay_seconds":)[12]?\d\b/g

const documentedFetch: typeof fetch = async (input, init) => {
  const response = await plain(input, init)
  const url = new URL(response.url)
  if (!isOfApi(url)) return response
  const method = response.redirected ? "GET" : (init?.method ?? (input instanceof Request ? input.method : "GET"))
  const headers = Object.fromEntries(response.headers)
  const isJson = headers["content-type"]?.startsWith("application/json") === true
  // Whoever asked reads the answer itself; of what is no JSON nothing but the kind is documented, and it may have no end.
  const text = isJson ? (await response.clone().text()).replaceAll(shortDelay, (_, name) => `${name}30`) : ""
  judge ??= judgeOf(apiRoutes(builtIn), askedInStories)
  const fault = judge(method, url.pathname, { status: response.status, headers, text, json: text === "" ? undefined : JSON.parse(text) })
  if (fault !== undefined) throw new Error(`Not as documented: ${fault}`)
  return response
}

globalThis.fetch = documentedFetch
