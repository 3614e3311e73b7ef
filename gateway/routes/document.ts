/** /api/v1/openapi.json, /docs, which shows it, and /llms.txt, which sums it up. */
import { Effect } from "effect"
import Type from "typebox"
import { docsFile } from "#gateway/docs/files.ts"
import { llmsText } from "#gateway/openapi/llms.ts"
import { openApiOf } from "#gateway/openapi/openapi.ts"
import { NotFound } from "#gateway/request/Refusal.ts"
import { type Content, download, type Route, route, tagged, type Tag } from "#gateway/request/Route.ts"
import { ServerInfo } from "#gateway/ports/ServerInfo.ts"
import { optional } from "#gateway/request/Field.ts"

const found = (content: Content | undefined) =>
  content === undefined ? Effect.fail(new NotFound({ detail: "Not Found" })) : Effect.succeed(content)

/** A browser is shown the documentation, and a program is told where it is. */
const welcome: Route = {
  ...route({
    method: "get",
    path: "/",
    name: "getRoot",
    summary: "Where to begin",
    description: "A browser, which asks for `text/html`, is sent on to `/docs`.",
    access: "none",
    headers: Type.Object({ Accept: optional(Type.String()) }),
    success: Type.Object({ docs: Type.String(), health: Type.String(), openapi: Type.String() }, { title: "Root" }),
    handle: () => Effect.succeed({ docs: "/docs", health: "/api/v1/health", openapi: "/api/v1/openapi.json" })
  }),
  around: (given, reply) =>
    /\btext\/html\b/.test(String(given.headers["Accept"] ?? ""))
      ? Effect.succeed({ status: 302, headers: [["location", "/docs"]], body: "" })
      : reply
}

const documentation: Tag = { name: "Documentation", about: "This API, described for people and programs." }

/** `documented` are the other routes: these describe themselves too. */
export const documentRoutes = (documented: ReadonlyArray<Route<unknown>>) => {
  // Made once, when it is first asked for: routes do not change.
  let document: string | undefined
  const routes: ReadonlyArray<Route<ServerInfo>> = tagged(documentation, [
    download({
      method: "get",
      path: "/api/v1/openapi.json",
      name: "getOpenApi",
      summary: "This document",
      access: "none",
      mediaTypes: ["application/json"],
      handle: () =>
        Effect.map(ServerInfo, ({ version }) => ({
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
      description: "With the first steps from a key to a campaign. The key is entered once, and requests are sent from the page.",
      mediaTypes: ["text/html"],
      errors: ["NotFound"],
      handle: () => Effect.flatMap(docsFile("page.html"), found)
    }),
    download({
      method: "get",
      path: "/docs/:file",
      name: "getDocsFile",
      summary: "What that page is made of",
      access: "none",
      params: Type.Object({ file: Type.String() }),
      mediaTypes: ["text/javascript", "text/css", "text/html"],
      errors: ["NotFound"],
      handle: ({ params }) => Effect.flatMap(docsFile(params.file), found)
    }),
    welcome,
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
