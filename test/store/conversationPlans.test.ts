/** What conversations are based on, as stored in the database: the organization's tools that the graph names, and the time zone. */
import { Effect, Layer, Logger } from "effect"
import { SqlClient } from "effect/sql"
import t from "tap"
import { ConversationPlans } from "#core/agent/conversation/ConversationPlans.ts"
import type { OrganizationId } from "#core/Id.ts"
import type { JsonObject } from "#core/Json.ts"
import * as toolStore from "#core/tool/ToolStore.ts"
import * as given from "#test/support/given.ts"
import { openDatabase } from "#test/support/postgres.ts"
import { definition } from "#test/support/talkScript.ts"

const database = await openDatabase(t)
const tool = { name: "Hang up", description: null, icon: null, iconColor: null, createdBy: null }

t.test("given an agent with a tool of its organization and one of another, then its calls have its own, and a time zone", async (t) => {
  const planned = await database.run(
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const { organizationId: id } = yield* given.campaign({ contacts: 1 })
      const other = yield* given.organization({ name: "Other" })
      const make = (owner: OrganizationId) =>
        Effect.map(
          toolStore.insert(sql, owner, { ...tool, definition: { schema_version: 1, type: "end_call", config: {} } }),
          ([made]) => made?.toolUuid ?? ""
        )
      const own = yield* make(id)
      const foreign = yield* make(other)
      const version = { definition: definition({ tool_uuids: [own.toUpperCase(), foreign, "none"] }), configurations: {} }
      const plans = yield* ConversationPlans
      const planFor = (context: JsonObject) => plans.planFor(id, version, context)
      yield* sql`UPDATE organizations SET timezone = 'America/Chicago' WHERE id = ${id}`
      const [first, callees, wrong] = [
        yield* planFor({}),
        yield* planFor({ timezone: "Asia/Tokyo" }),
        yield* planFor({ time_zone: "Nowhere" })
      ]
      return {
        first,
        own,
        zones: [first, callees, wrong].map((plan) => plan?.timeZone),
        none: yield* plans.planFor(id, { definition: {}, configurations: {} }, {})
      }
    }).pipe(Effect.provide(Layer.fresh(ConversationPlans.layer)), Effect.orDie)
  )
  t.strictSame([...(planned.first?.tools.keys() ?? [])], [planned.own])
  t.strictSame(planned.zones, ["America/Chicago", "Asia/Tokyo", "America/Chicago"])
  t.match(planned.none, { canHear: false, graph: { start: { edges: [] } } }, "without a start node, there is nothing to talk about")
})

t.test("given a tool that was sealed with another key, then conversations continue without it, and with the others", async (t) => {
  const logged: Array<unknown> = []
  const log = Logger.layer([Logger.make(({ message }) => void logged.push(message))])
  const plan = await database.run(
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const { organizationId } = yield* given.campaign({ contacts: 1 })
      const make = (name: string) =>
        Effect.map(
          toolStore.insert(sql, organizationId, { ...tool, name, definition: { schema_version: 1, type: "end_call", config: {} } }),
          ([made]) => made?.toolUuid ?? ""
        )
      const whole = yield* make("Hang up")
      const broken = yield* make("Look up")
      // A seal opens only in its own row, so this has the effect of one that was made with another key.
      yield* sql`
        UPDATE tools SET definition = (SELECT definition FROM tools WHERE tool_uuid = ${whole}::uuid) WHERE tool_uuid = ${broken}::uuid`
      const version = { definition: definition({ tool_uuids: [broken, whole] }), configurations: {} }
      const plan = yield* (yield* ConversationPlans).planFor(organizationId, version, {})
      return { tools: [...(plan?.tools.values() ?? [])].map(({ offered }) => offered.name), unreadable: plan?.unreadableTools, broken }
    }).pipe(Effect.provide([Layer.fresh(ConversationPlans.layer), log]), Effect.orDie)
  )
  t.strictSame([plan.tools, plan.unreadable], [["hang_up"], ["Look up"]])
  t.equal(logged.length, 1)
  t.match(JSON.stringify(logged), new RegExp(`cannot be opened.*${plan.broken}`), "which the log says")
})
