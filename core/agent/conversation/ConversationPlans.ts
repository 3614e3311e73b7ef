/**
 * The plan for the conversations of a version: its graph and settings, and its organization's tools and time zone, which may change between
 * calls.
 */
import { Cache, Context, Duration, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import type { OrganizationId } from "#core/Id.ts"
import type { JsonObject } from "#core/Json.ts"
import { preferences } from "#core/organization/OrganizationSettingsStore.ts"
import { Sealer } from "#core/Sealer.ts"
import { isTimeZone } from "#core/TimeZone.ts"
import type { AgentVersion } from "#core/agent/Agent.ts"
import { toolUuidsIn } from "#core/agent/ToolNames.ts"
import { compile, type ConversationGraph, withoutStart } from "./ConversationGraph.ts"
import { type ConversationSettings, settingsOf } from "./ConversationSettings.ts"
import type { ConversationPlan } from "./ConversationState.ts"
import { loadTools } from "./GraphTools.ts"

type Content = Pick<AgentVersion, "configurations" | "definition">

export class ConversationPlans extends Context.Service<
  ConversationPlans,
  {
    /** `context`: what is known about the callee, who may have their own time zone. */
    readonly planFor: (organizationId: OrganizationId, version: Content, context: JsonObject) => Effect.Effect<ConversationPlan>
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
        lookup: (key: string) => Effect.provideService(loadTools(sql, ...namedBy(key)), Sealer, sealer)
      })
      return {
        planFor: Effect.fnUntraced(function* (organizationId, version, context) {
          const { graph, hasStart, settings } = compiled(version)
          return {
            graph,
            settings,
            // Without a start node, there is nothing to talk about.
            canHear: hasStart,
            timeZone: zoneIn(context) ?? (yield* Cache.get(zones, organizationId)) ?? "UTC",
            ...(yield* Cache.get(tools, keyOf(organizationId, toolUuidsIn(graph.definition))))
          }
        })
      }
    })
  )
}

const remembered = 1000
/** How long a changed tool or time zone takes to reach new calls. */
const timeToLive = Duration.seconds(10)

interface Compiled {
  readonly graph: ConversationGraph
  readonly hasStart: boolean
  readonly settings: ConversationSettings
}
/** Versions never change, and are cached as long as calls use them. */
const known = new WeakMap<Content, Compiled>()

const compiled = (version: Content): Compiled => {
  const before = known.get(version)
  if (before !== undefined) return before
  const graph = compile(version.definition, version.configurations)
  const made = { graph: graph ?? withoutStart, hasStart: graph !== undefined, settings: settingsOf(version.configurations) }
  known.set(version, made)
  return made
}

type Named = readonly [OrganizationId, ReadonlyArray<string>]
const keyOf = (...named: Named): string => JSON.stringify(named)
// Made by `keyOf`.
const namedBy = (key: string): Named => JSON.parse(key) as Named

/** A contact's own time zone, from its column. */
const zoneIn = ({ time_zone: underscored, timezone }: JsonObject): string | undefined =>
  [timezone, underscored].filter((zone) => typeof zone === "string").find(isTimeZone)
