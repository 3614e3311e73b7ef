/** Definitions that were stored before their trigger paths were registered, in a database that is migrated. */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import t from "tap"
import { migratedFrom } from "./olderDatabase.ts"

interface Old {
  readonly organization?: number
  readonly status?: "active" | "archived"
  readonly published?: ReadonlyArray<unknown>
  readonly draft?: ReadonlyArray<unknown>
  readonly archived?: ReadonlyArray<unknown>
}
const trigger = (trigger_path: unknown, more: object = {}) => ({ id: "t", type: "trigger", data: { trigger_path, ...more } })

/** Inserts agents with the ids 1, 2, 3 and so on. */
const insert = Effect.fnUntraced(function* (agents: ReadonlyArray<Old>) {
  const sql = yield* SqlClient.SqlClient
  yield* sql`INSERT INTO organizations (name, concurrency_limit) VALUES ('One', 5), ('Two', 5)`
  for (const { organization = 1, status = "active", ...versions } of agents) {
    const [agent] = yield* sql<{ readonly id: number }>`
      INSERT INTO agents (organization_id, name, status) VALUES (${organization}, 'Old', ${status}) RETURNING id`
    for (const [index, versionStatus] of (["archived", "published", "draft"] as const).entries()) {
      const nodes = versions[versionStatus]
      if (nodes === undefined) continue
      yield* sql`
        INSERT INTO agent_definitions (organization_id, agent_id, version_number, version_status, definition)
        VALUES (${organization}, ${agent?.id}::int, ${index + 1}, ${versionStatus}, ${JSON.stringify({ nodes, edges: [] })}::jsonb)`
    }
  }
})

const registered = Effect.flatMap(
  SqlClient.SqlClient,
  (sql) => sql<{ readonly path: string }>`
    SELECT path, organization_id AS organization, agent_id AS agent, is_published, is_in_draft FROM agent_triggers ORDER BY path COLLATE "C"`
)

t.test("given definitions from before 0005, when the database is migrated, then their trigger paths are registered", async (t) => {
  const agents: ReadonlyArray<Old> = [
    { published: [{ id: "1", type: "startCall", data: {} }, trigger("orders"), trigger("off", { enabled: false })] },
    { published: [trigger("both")], draft: [trigger("both"), trigger("next")], archived: [trigger("former")] },
    { organization: 2, published: [trigger("orders"), trigger("two")] },
    { status: "archived", published: [trigger("kept")] },
    { published: [trigger("a/b"), trigger("x".repeat(37)), trigger(7), trigger(null), trigger(""), { id: "t", type: "trigger" }, "odd"] },
    { published: [trigger("twice"), trigger("twice")], draft: [] }
  ]
  t.strictSame(await migratedFrom(t, "0004", insert(agents), () => registered), [
    { path: "both", organization: 1, agent: 2, isPublished: true, isInDraft: true },
    { path: "kept", organization: 1, agent: 4, isPublished: true, isInDraft: false },
    { path: "next", organization: 1, agent: 2, isPublished: false, isInDraft: true },
    { path: "off", organization: 1, agent: 1, isPublished: false, isInDraft: false },
    { path: "orders", organization: 1, agent: 1, isPublished: true, isInDraft: false },
    { path: "twice", organization: 1, agent: 6, isPublished: true, isInDraft: false },
    { path: "two", organization: 2, agent: 3, isPublished: true, isInDraft: false }
  ])
})

t.test("given paths that saves have registered since, when the database is migrated, then they keep their agents", async (t) => {
  const fill = Effect.gen(function* () {
    yield* insert([{ published: [trigger("taken"), trigger("free")] }, { organization: 2, published: [trigger("taken")] }])
    const sql = yield* SqlClient.SqlClient
    yield* sql`INSERT INTO agent_triggers (path, organization_id, agent_id, is_published, is_in_draft) VALUES ('taken', 2, 2, true, false)`
  })
  t.strictSame(await migratedFrom(t, "0011", fill, () => registered), [
    { path: "free", organization: 1, agent: 1, isPublished: true, isInDraft: false },
    { path: "taken", organization: 2, agent: 2, isPublished: true, isInDraft: false }
  ])
})
