import t from "tap"
import { openApi } from "./apiTest.ts"

const { ask, askAsOther, makeCampaign, organizationId, sql } = await openApi(t)

t.test("given several engines with calls, when an organization lists them, then each has the organization's own calls alone", async (t) => {
  t.strictSame((await ask("GET", "/organizations/engines")).json, { engines: [] })
  const journal = (number: number) => `00000000-0000-4000-8000-00000000000${number}`
  const { id } = await makeCampaign()
  await sql`INSERT INTO engine_lock (epoch, node, host, pid, process, backend, since, address)
    VALUES (1, 'first', 'secret-host', 1, 'p1', 1, '2026-01-01T00:00:00Z', '10.9.8.7:1')`
  await sql`INSERT INTO leaving_engines (journal, node, host, process, address, schema_version, adopted, since, beat_at)
    SELECT journal::uuid, node, 'secret-host', 'p', '10.9.8.7:2', version, ARRAY(SELECT adopted::uuid WHERE adopted IS NOT NULL), '2026-01-02T00:00:00Z',
      clock_timestamp() - silent::interval
    FROM (VALUES (${journal(2)}, 'second', 5, NULL, '0 s'), (${journal(3)}, 'third', NULL, ${journal(7)}, '20 s'), (${journal(4)}, 'dead', 5, NULL, '5 min')
    ) AS engines (journal, node, version, adopted, silent)`
  await sql`INSERT INTO attempts (id, organization_id, campaign_id, row_no, telephony_configuration_id, node, journal, state)
    SELECT coalesce(id::uuid, gen_random_uuid()), organization, campaign, row, 1, 'n', journal::uuid, state
    FROM (VALUES (NULL, ${organizationId}::int, ${id}::int, 2, ${journal(1)}, 'sent'), (NULL, ${organizationId}::int, NULL, NULL, ${journal(2)}, 'answered'),
      (NULL, ${organizationId}::int, NULL, NULL, ${journal(2)}, 'intent'), (NULL, ${organizationId}::int, NULL, NULL, ${journal(2)}, 'ended'),
      (${journal(7)}, ${organizationId}::int, NULL, NULL, ${journal(9)}, 'answered'), (NULL, ${organizationId}::int, NULL, NULL, ${journal(4)}, 'answered'),
      (NULL, ${organizationId}::int + 1, NULL, NULL, ${journal(2)}, 'answered')) AS calls (id, organization, campaign, row, journal, state)`
  const answer = await ask("GET", "/organizations/engines")
  const since = "2026-01-02T00:00:00.000Z"
  t.match(answer.json, {
    engines: [
      { name: "first", role: "decider", is_decider: true, version: /./, since: "2026-01-01T00:00:00.000Z", calls: 2 },
      { name: "second", role: "carrier", is_decider: false, version: null, since, calls: 2 },
      { name: "third", role: "leaving", calls: 1 }
    ]
  })
  t.equal(Object(answer.json).engines.length, 3)
  t.notMatch(answer.text, /secret-host|10\.9\.8\.7/)
  t.match((await askAsOther("GET", "/organizations/engines")).json, { engines: [{ calls: 0 }, { calls: 1 }, { calls: 0 }] })
})
