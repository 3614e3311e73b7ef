/** The files of `/docs`: our own page, and Swagger UI, which comes from a package. */
import { Effect } from "effect"
import { readFile } from "node:fs/promises"
import { createRequire } from "node:module"
import { fileURLToPath } from "node:url"
import { type Lasting, lasting } from "#gateway/request/Lasting.ts"
import type { Content } from "#gateway/request/Route.ts"

const ours = (name: string) => lasting(() => readFile(fileURLToPath(new URL(`./${name}`, import.meta.url))))
const reference = (name: string) => lasting(() => readFile(createRequire(import.meta.url).resolve(`swagger-ui-dist/${name}`)))

const script = "text/javascript; charset=utf-8"
const style = "text/css; charset=utf-8"
/** Only these files are ever read. */
const files: Readonly<Record<string, readonly [mediaType: string, body: Effect.Effect<Lasting>]>> = {
  "page.html": ["text/html; charset=utf-8", ours("page.html")],
  "docs.css": [style, ours("docs.css")],
  "docs.js": [script, ours("docs.js")],
  "examples.js": [script, ours("examples.js")],
  "guide.js": [script, ours("guide.js")],
  "swagger-ui.css": [style, reference("swagger-ui.css")],
  "swagger-ui-bundle.js": [script, reference("swagger-ui-bundle.js")]
}

/** The page runs only scripts from this server, and connects to nothing else. */
const policy =
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; base-uri 'none'; form-action 'none'; " +
  "frame-ancestors 'none'"

/** Undefined: there is no such file. */
export const docsFile = (name: string): Effect.Effect<Content | undefined> => {
  const found = Object.hasOwn(files, name) ? files[name] : undefined
  if (found === undefined) return Effect.undefined
  const [mediaType, read] = found
  return Effect.map(read, (body) => ({ mediaType, headers: [["content-security-policy", policy]], body }))
}
