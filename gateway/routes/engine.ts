/** /api/v1/organizations/engines */
import { Effect } from "effect"
import { Engines } from "#core/node/Engines.ts"
import { ServerInfo } from "#gateway/ports/ServerInfo.ts"
import { route, tagged } from "#gateway/request/Route.ts"
import { together } from "#gateway/request/together.ts"
import { EngineList, engineList } from "#gateway/wire/Engine.ts"
import { organizationTag } from "./organization.ts"

export const engineRoutes = tagged(organizationTag, [
  together(
    route({
      method: "get",
      path: "/api/v1/organizations/engines",
      answeredBy: "decider",
      name: "listEngines",
      summary: "List the engines that dial and carry calls",
      description:
        "Those that have shown within half a minute that they are alive, each with how many calls of the organization are up on it. An engine that only stands by is not listed, and neither is where an engine runs.",
      success: EngineList,
      handle: ({ caller }) =>
        Effect.gen(function* () {
          const engines = yield* Engines.use((_) => _.list(caller.organizationId))
          const { version } = yield* ServerInfo
          return engineList(engines, version)
        })
    })
  )
])
