/** The console, at /console. */
import { Effect } from "effect"
import Type from "typebox"
import { consoleFile } from "#gateway/console/files.ts"
import { NotFound } from "#gateway/request/Refusal.ts"
import { type Content, download, tagged } from "#gateway/request/Route.ts"

const found = (content: Content | undefined) =>
  content === undefined
    ? Effect.fail(new NotFound({ detail: "The console has not been built: run `npm run build`" }))
    : Effect.succeed(content)

export const consoleRoutes = tagged({ name: "Console", about: "The pages of this engine." }, [
  download({
    method: "get",
    path: "/console",
    name: "getConsole",
    summary: "Open the console",
    access: "none",
    description: "Campaigns, calls and trunks in the browser. Whoever opens it signs in with an account or an API key.",
    mediaTypes: ["text/html"],
    errors: ["NotFound"],
    handle: () => Effect.flatMap(consoleFile("page.html"), found)
  }),
  download({
    method: "get",
    path: "/console/:file",
    name: "getConsoleFile",
    summary: "Read a file of the console",
    description: "The script and the style sheet that `/console` loads. 404 for any other name.",
    access: "none",
    params: Type.Object({ file: Type.String() }),
    mediaTypes: ["text/javascript", "text/css", "text/html"],
    errors: ["NotFound"],
    handle: ({ params }) => Effect.flatMap(consoleFile(params.file), found)
  })
])
