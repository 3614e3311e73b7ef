/** /api/v1/openapi.json, its page at /docs, and its summary at /llms.txt. */
import { Effect } from "effect"
import Type from "typebox"
import { redirect } from "#gateway/http/Endpoint.ts"
import { docsFile } from "#gateway/docs/files.ts"
import { llmsText } from "#gateway/openapi/llms.ts"
import { openApiSteps } from "#gateway/openapi/openapi.ts"
import { inTurns, type Lasting, lasting } from "#gateway/request/Lasting.ts"
import { NotFound } from "#gateway/request/Refusal.ts"
import { type Content, download, type Route, route, tagged, type Tag } from "#gateway/request/Route.ts"
import { ServerInfo } from "#gateway/ports/ServerInfo.ts"
import { optional } from "#gateway/request/Field.ts"

const found = (content: Content | undefined) =>
  content === undefined ? Effect.fail(new NotFound({ detail: "Not Found" })) : Effect.succeed(content)

/** Redirects a browser to the console, and tells a program where things are. */
const welcome: Route = {
  ...route({
    method: "get",
    path: "/",
    name: "getRoot",
    summary: "Find the console and the documentation",
    description: "A browser, which accepts `text/html`, is redirected to `/console`.",
    access: "none",
    headers: Type.Object({ Accept: optional(Type.String()) }),
    success: Type.Object({ console: Type.String(), docs: Type.String(), health: Type.String(), openapi: Type.String() }, { title: "Root" }),
    handle: () => Effect.succeed({ console: "/console", docs: "/docs", health: "/api/v1/health", openapi: "/api/v1/openapi.json" })
  }),
  around: (given, reply) => (/\btext\/html\b/.test(String(given.headers["Accept"] ?? "")) ? Effect.succeed(redirect("/console")) : reply)
}

const documentation: Tag = { name: "Documentation", about: "This API, described for people and programs." }

/** `documented` are the other routes; the document describes these as well. */
export const documentRoutes = (documented: ReadonlyArray<Route<unknown>>) => {
  // Built at the first request and kept: neither routes nor the version change.
  let document: Effect.Effect<Lasting> | undefined
  const documentOf = (version: string) =>
    (document ??= lasting(async () => JSON.stringify(await inTurns(openApiSteps([...documented, ...routes], version)))))
  const summary = lasting(async () => llmsText([...documented, ...routes]))
  const routes: ReadonlyArray<Route<ServerInfo>> = tagged(documentation, [
    download({
      method: "get",
      path: "/api/v1/openapi.json",
      name: "getOpenApi",
      summary: "Read the OpenAPI document",
      description: "OpenAPI 3.1, generated from the declarations by which requests are checked. It lists the providers of this engine.",
      access: "none",
      mediaTypes: ["application/json"],
      handle: () =>
        Effect.flatMap(ServerInfo, ({ version }) => Effect.map(documentOf(version), (body) => ({ mediaType: "application/json", body })))
    }),
    download({
      method: "get",
      path: "/docs",
      name: "getDocs",
      summary: "Open the documentation page",
      access: "none",
      description: "Shows the first steps from an API key to a campaign. The key is entered once, and requests can be sent from the page.",
      mediaTypes: ["text/html"],
      errors: ["NotFound"],
      handle: () => Effect.flatMap(docsFile("page.html"), found)
    }),
    download({
      method: "get",
      path: "/docs/:file",
      name: "getDocsFile",
      summary: "Read a file of the documentation page",
      description: "Scripts and style sheets that `/docs` loads. 404 for any other name.",
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
      summary: "Read the API summary, one line per operation",
      description: "For language models that are to use the API; the details are in the OpenAPI document.",
      access: "none",
      mediaTypes: ["text/plain"],
      handle: () => Effect.map(summary, (body) => ({ mediaType: "text/plain; charset=utf-8", body }))
    })
  ])
  return routes
}
