/** /api/v1/openapi.json, /docs, which shows it, and /llms.txt, which sums it up. */
import { Effect } from "effect"
import { readFileSync } from "node:fs"
import { llmsText } from "../llms.ts"
import { openApiOf } from "../openapi.ts"
import { download, type Route, tagged } from "../Route.ts"
import { Site } from "../Site.ts"

const page = readFileSync(new URL("../docs.html", import.meta.url), "utf8")
/** The page is one file: its style and script are in it, and it fetches from nowhere but here. */
const pagePolicy =
  "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; connect-src 'self'; img-src data:; " +
  "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

/** `documented` are the other routes: these describe themselves too. */
export const documentRoutes = (documented: ReadonlyArray<Route<unknown>>) => {
  // Made once, when it is first asked for: routes do not change.
  let document: string | undefined
  const routes: ReadonlyArray<Route<Site>> = tagged("Documentation", [
    download({
      method: "get",
      path: "/api/v1/openapi.json",
      name: "getOpenApi",
      summary: "This document",
      access: "none",
      mediaTypes: ["application/json"],
      handle: () =>
        Effect.map(Site, ({ version }) => ({
          mediaType: "application/json",
          body: (document ??= JSON.stringify(openApiOf([...documented, ...routes], version)))
        }))
    }),
    download({
      method: "get",
      path: "/docs",
      name: "getDocs",
      summary: "This document as a page",
      access: "none",
      mediaTypes: ["text/html"],
      handle: () =>
        Effect.succeed({ mediaType: "text/html; charset=utf-8", headers: [["content-security-policy", pagePolicy]], body: page })
    }),
    download({
      method: "get",
      path: "/llms.txt",
      name: "getLlmsText",
      summary: "This document in a line for each operation",
      access: "none",
      mediaTypes: ["text/plain"],
      handle: () => Effect.succeed({ mediaType: "text/plain; charset=utf-8", body: llmsText([...documented, ...routes]) })
    })
  ])
  return routes
}
