import t from "tap"
import { sequence } from "#core/event/EventStore.ts"
import { install, ours, theirs } from "./services.ts"

const { sql, test } = await install(t)

test(t, "given endpoints of two organizations, when something happens in one of them, then none of the other's is told", function* (t) {
  yield* sql`INSERT INTO webhook_endpoints (organization_id, url, description, event_types, enabled, secret) VALUES
        (${ours}, 'https://ours.example/all', '', '{}', true, ''), (${ours}, 'https://ours.example/off', '', '{}', false, ''),
        (${ours}, 'https://ours.example/started', '', '{campaign.started}', true, ''),
        (${ours}, 'https://ours.example/completed', '', '{campaign.completed}', true, ''),
        (${theirs}, 'https://theirs.example/all', '', '{}', true, '')`
  yield* sql`SELECT add_event(${ours}, 'campaign.started', 'campaigns/1', '{}')`
  const { deliveries } = yield* sequence(sql)
  const rows = yield* sql<{ readonly url: string; readonly organizationId: number }>`
        SELECT e.url, d.organization_id FROM webhook_deliveries d JOIN webhook_endpoints e ON e.id = d.endpoint_id ORDER BY e.id`
  t.strictSame(
    { deliveries, to: rows.map(({ organizationId, url }) => [organizationId, url]) },
    {
      deliveries: 2,
      to: [
        [ours, "https://ours.example/all"],
        [ours, "https://ours.example/started"]
      ]
    }
  )
})
