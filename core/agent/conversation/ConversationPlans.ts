/** What the conversations of a version follow: its graph and settings, and its organization's tools and time zone, which may change between calls. */
import { Cache, Context, Duration, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import type { OrganizationId } from "#core/Id.ts"
import type { JsonObject } from "#core/Json.ts"
import { preferences } from "#core/organization/OrganizationSettingsStore.ts"
import { Sealer } from "#core/Sealer.ts"
import { isTimeZone } from "#core/TimeZone.ts"
import * as toolStore from "#core/tool/ToolStore.ts"
import { isUuid } from "#core/Uuid.ts"
import type { AgentVersion } from "#core/agent/Agent.ts"
import { compile, type ConversationGraph } from "./ConversationGraph.ts"
import { type ConversationSettings, settingsOf } from "./ConversationSettings.ts"
import type { ConversationPlan } from "./ConversationState.ts"
import { compileTools, type ConversationTool } from "./ConversationTool.ts"

type Content = Pick<AgentVersion, "configurations" | "definition">

export class ConversationPlans extends Context.Service<
  ConversationPlans,
  {
    /** `context`: what is known of the callee, who may have a time zone of their own. Undefined: the graph has no beginning. */
    readonly planFor: (organizationId: OrganizationId, version: Content, context: JsonObject) => Effect.Effect<ConversationPlan | undefined>
  }
>()("core/agent/conversation/ConversationPlans") {
  static readonly layer = Layer.effect(
    ConversationPlans,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const sealer = yield* Sealer
      const zones = yield* Cache.make({
        capacity: remembered,
        timeToLive,
        lookup: (id: OrganizationId) => Effect.map(Effect.orDie(preferences(sql, id)), ([own]) => own?.timezone ?? undefined)
      })
      const tools = yield* Cache.make({
        capacity: remembered,
        timeToLive,
        lookup: (key: string) => Effect.provideService(toolsFor(sql, key), Sealer, sealer)
      })
      return {
        planFor: Effect.fnUntraced(function* (organizationId, version, context) {
          const { graph, settings } = compiled(version)
          if (graph === undefined) return undefined
          const uuids = toolsIn(graph)
          return {
            graph,
            settings,
            timeZone: zoneIn(context) ?? (yield* Cache.get(zones, organizationId)) ?? "UTC",
            tools: uuids.length === 0 ? none : yield* Cache.get(tools, keyOf(organizationId, uuids))
          }
        })
      }
    })
  )
}

const remembered = 1000
/** How long a changed tool or time zone takes to reach new calls. */
const timeToLive = Duration.seconds(10)
const none: ReadonlyMap<string, ConversationTool> = new Map()

interface Compiled {
  readonly graph: ConversationGraph | undefined
  readonly settings: ConversationSettings
}
/** Versions never change, and are remembered as long as calls use them. */
const known = new WeakMap<Content, Compiled>()

const compiled = (version: Content): Compiled => {
  const before = known.get(version)
  if (before !== undefined) return before
  const made = { graph: compile(version.definition), settings: settingsOf(version.configurations) }
  known.set(version, made)
  return made
}

const toolsIn = ({ nodes }: ConversationGraph): ReadonlyArray<string> =>
  [...new Set([...nodes.values()].flatMap(({ toolUuids }) => toolUuids))].filter(isUuid).toSorted()

const keyOf = (organizationId: OrganizationId, uuids: ReadonlyArray<string>): string => JSON.stringify([organizationId, uuids])

const toolsFor = Effect.fnUntraced(function* (sql: SqlClient.SqlClient, key: string) {
  // Made by `keyOf`.
  const [organizationId, uuids] = JSON.parse(key) as [OrganizationId, ReadonlyArray<string>]
  const found = yield* Effect.forEach(uuids, (uuid) => Effect.orDie(toolStore.find(sql, organizationId, uuid)))
  return compileTools(found.filter((tool) => tool !== undefined))
})

/** A contact's own, from its column. */
const zoneIn = ({ time_zone: underscored, timezone }: JsonObject): string | undefined =>
  [timezone, underscored].filter((zone) => typeof zone === "string").find(isTimeZone)
