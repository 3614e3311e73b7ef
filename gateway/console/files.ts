/** The files of `/console`: its page, and the script and style sheet that `runtime/build.js` makes for browsers. */
import { Effect } from "effect"
import { existsSync } from "node:fs"
import { readFile } from "node:fs/promises"
import { fileURLToPath } from "node:url"
import { type Lasting, lasting } from "#gateway/request/Lasting.ts"
import type { Content } from "#gateway/request/Route.ts"

const place = (path: string) => fileURLToPath(new URL(path, import.meta.url))
const page = place("./page.html")
const builds = "../../.build/console"

/** The newest build: an engine that was started before it serves it as well, so that page and script are of one build. */
const built = (name: string) => async () => {
  // Cast: `runtime/build.js` writes it.
  const { digest } = JSON.parse(await readFile(place(`${builds}/current.json`), "utf8")) as { readonly digest: string }
  return readFile(place(`${builds}/${digest}/${name}`))
}

const files: Readonly<Record<string, readonly [mediaType: string, body: Effect.Effect<Lasting>]>> = {
  "page.html": ["text/html; charset=utf-8", lasting(() => readFile(page))],
  "console.css": ["text/css; charset=utf-8", lasting(built("console.css"))],
  "console.js": ["text/javascript; charset=utf-8", lasting(built("console.js"))]
}

/** Only scripts from this engine run, and they connect to nothing else. Recordings may come from where the operator stores them. */
const policy =
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; media-src 'self' https:; connect-src 'self'; base-uri 'none'; " +
  "form-action 'none'; frame-ancestors 'none'"

/** Undefined: there is no such file, or the console has not been built. */
export const consoleFile = (name: string): Effect.Effect<Content | undefined> => {
  const found = Object.hasOwn(files, name) ? files[name] : undefined
  if (found === undefined || !existsSync(place(`${builds}/current.json`))) return Effect.undefined
  const [mediaType, read] = found
  return Effect.map(read, (body) => ({
    mediaType,
    headers: [
      ["content-security-policy", policy],
      ["cache-control", "no-cache"]
    ],
    body
  }))
}
