import t from "tap"
import { bodyOf, openApi } from "./apiTest.ts"

const { ask, askAsOther, organizationId, sql } = await openApi(t)
const path = "/organizations/opt-outs"
const numbers = ["+15550200001", "+15550200002", "+15550200003"]
const shown = async (query = "", asked = ask) => {
  const answer = await asked("GET", `${path}${query}`)
  // The cast holds because the answer was checked against its schema.
  return bodyOf(answer)["opt_outs"] as unknown as ReadonlyArray<{ readonly id: number; readonly phone_number: string }>
}

t.test("given numbers that are added together", async (t) => {
  t.match(await ask("POST", path, { phone_numbers: numbers }), { status: 200, json: { added: 3 } })
  t.match(await ask("POST", path, { phone_numbers: [numbers[0], "+15550200004"] }), { status: 200, json: { added: 1 } })

  await t.test("then they are listed page by page, sorted, and can be looked up", async (t) => {
    const first = await ask("GET", `${path}?limit=2`)
    t.match(first.json, { opt_outs: numbers.slice(0, 2).map((phone_number) => ({ phone_number, source: "api", workflow_run_id: null })) })
    const [, second] = await shown("?limit=2")
    const next = (await shown(`?after=${encodeURIComponent(second?.phone_number ?? "")}`)).map(({ phone_number }) => phone_number)
    t.strictSame(next, [numbers[2], "+15550200004"])
    t.match(String(first.headers["link"]), /after=%2B15550200002/)
    t.match(await shown(`?phone_number=${encodeURIComponent("+15550200004")}`), [{ phone_number: "+15550200004" }])
    t.strictSame(await shown(`?phone_number=${encodeURIComponent("+15550200009")}`), [])
  })

  await t.test("when another organization lists them, then it sees none of them", async (t) => {
    t.strictSame(await shown("", askAsOther), [])
  })

  await t.test("when one is removed, then the audit log says so, by its id", async (t) => {
    const [first] = await shown()
    t.match(await ask("DELETE", `${path}/${first?.id}`), { status: 200, json: { message: "Opt-out removed" } })
    t.match(await ask("DELETE", `${path}/${first?.id}`), { status: 404, json: { detail: "Opt-out not found" } })
    const left = (await shown()).map(({ phone_number }) => phone_number)
    t.strictSame(left, [...numbers.slice(1), "+15550200004"])
    const log = await ask("GET", "/organizations/audit-log?limit=1")
    t.match(log.text, /"removeOptOut"/)
    t.match(log.text, new RegExp(`"${first?.id}"`))
    t.notMatch(log.text, /5550200001/)
  })
})

t.test("given malformed numbers, none, or too many, then nothing is added", async (t) => {
  const before = (await shown()).length
  for (const phone_numbers of [
    ["5550200005"],
    ["+1 555 020 0005"],
    ["+15550200005", "x"],
    [],
    Array.from({ length: 1001 }, (_, n) => `+1555${1_000_000 + n}`)
  ])
    t.equal((await ask("POST", path, { phone_numbers })).status, 422)
  t.equal((await shown()).length, before)
})

t.test("given a thousand numbers, then they are added in one request, and each has its event", async (t) => {
  const phone_numbers = Array.from({ length: 1000 }, (_, n) => `+1556${1_000_000 + n}`)
  t.match(await ask("POST", path, { phone_numbers }), { status: 200, json: { added: 1000 } })
  const counted = await sql`
    SELECT count(*)::int AS count
    FROM (SELECT organization_id, type FROM event_outbox UNION ALL SELECT organization_id, type FROM events) AS e
    WHERE organization_id = ${organizationId} AND type = 'contact.opted_out'`
  t.strictSame(counted, [{ count: 1004 }])
})
