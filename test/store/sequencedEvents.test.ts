/** Events as they leave the outbox: each becomes a delivery to the endpoints of its own organization that want its type. */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import t from "tap"
import { sequence } from "#core/event/EventStore.ts"
import { install, ours, theirs } from "./services.ts"

const { run } = await install(t)

t.test("given endpoints of two organizations, when something happens in one of them, then none of the other's is told", async (t) => {
  const told = await run(
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      yield* sql`INSERT INTO webhook_endpoints (organization_id, url, description, event_types, enabled, secret) VALUES
        (${ours}, 'https://ours.example/all', '', '{}', true, ''), (${ours}, 'https://ours.example/off', '', '{}', false, ''),
        (${ours}, 'https://ours.example/started', '', '{campaign.started}', true, ''),
        (${ours}, 'https://ours.example/completed', '', '{campaign.completed}', true, ''),
        (${theirs}, 'https://theirs.example/all', '', '{}', true, '')`
      yield* sql`SELECT add_event(${ours}, 'campaign.started', 'campaigns/1', '{}')`
      const { deliveries } = yield* sequence(sql)
      const rows = yield* sql<{ readonly url: string; readonly organizationId: number }>`
        SELECT e.url, d.organization_id FROM webhook_deliveries d JOIN webhook_endpoints e ON e.id = d.endpoint_id ORDER BY e.id`
      return { deliveries, to: rows.map(({ organizationId, url }) => [organizationId, url]) }
    })
  )
  t.strictSame(told, {
    deliveries: 2,
    to: [
      [ours, "https://ours.example/all"],
      [ours, "https://ours.example/started"]
    ]
  })
})
