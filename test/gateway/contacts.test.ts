import { Effect } from "effect"
import t from "tap"
import { CampaignOwnership } from "#core/campaign/CampaignOwnership.ts"
import { CampaignId } from "#core/Id.ts"
import { bodyOf, openApi } from "./apiTest.ts"

const { ask, completed, database, makeCampaign } = await openApi(t)

/** A campaign that is over: rows 2 and 3 have failed, and their last calls had these outcomes. */
const over = async (second: string, third: string) => {
  const { id } = await makeCampaign()
  await completed(id, second, third)
  return id
}
const rowsOf = async (id: number, query = "") => {
  const answer = await ask("GET", `/campaign/${id}/contacts${query}`)
  const { contacts } = answer.json as { contacts: ReadonlyArray<{ row_number: number }> } // This is an answer of ours.
  return contacts.map(({ row_number }) => row_number)
}
const mark = (id: number, rows: ReadonlyArray<number>, reached: boolean) =>
  ask("POST", `/campaign/${id}/contacts/mark`, { row_numbers: rows, reached })

t.test("given a campaign with calls of unknown outcome", async (t) => {
  t.test("when its contacts are listed, then each with what became of it", async (t) => {
    const id = await over("unknown", "busy")
    t.match((await ask("GET", `/campaign/${id}/contacts`)).json, {
      contacts: [
        { row_number: 2, phone_number: "+15550100001", state: "failed", last_outcome: "unknown", reached: null, run: null },
        { row_number: 3, state: "failed", last_outcome: "busy", reached: null }
      ]
    })
    t.strictSame(await rowsOf(id, "?outcome=unknown&reached=unsaid"), [2])
    t.strictSame(await rowsOf(id, "?outcome=busy"), [3])
    t.strictSame(await rowsOf(id, "?state=pending"), [])
    const first = await ask("GET", `/campaign/${id}/contacts?limit=1`)
    t.match(first.headers, { link: /contacts\?limit=1&after=2>; rel="next"/ })
    t.strictSame(await rowsOf(id, "?limit=1&after=2"), [3])
    t.equal((await ask("GET", `/campaign/${id}/contacts?outcome=lost`)).status, 422)
  })

  t.test("when they are marked as reached, then they are completed, and the counters follow", async (t) => {
    const id = await over("unknown", "unknown")
    t.match(await mark(id, [2, 2], true), { status: 200, json: { completed: 1, failed: 1 } })
    t.match(await mark(id, [2], true), { status: 200, json: { completed: 1, failed: 1 } }, "once, however often it is said")
    t.match(await mark(id, [3], false), { status: 200, json: { completed: 1, failed: 1 } })
    t.strictSame(await rowsOf(id, "?reached=yes"), [2])
    t.strictSame(await rowsOf(id, "?reached=no"), [3])
    t.match(await mark(id, [2, 3], false), { status: 200, json: { completed: 0, failed: 2 } }, "the last word counts")
    const recount = CampaignOwnership.use((_) => _.recount(CampaignId.make(id))).pipe(Effect.provide(CampaignOwnership.layer))
    t.ok(await database.run(recount), "a recount finds the same")
    t.match((await ask("GET", `/campaign/${id}`)).json, {
      logs: [{}, {}, { event: "contacts_marked", details: { reached: true, contacts: 1, rows: [2] } }, {}, {}, { details: { contacts: 2 } }]
    })
  })

  t.test("when one of the rows has another outcome, then none is marked", async (t) => {
    const id = await over("unknown", "busy")
    t.match(await mark(id, [2, 3, 99], true), { status: 409, json: { detail: "No call of unknown outcome in rows: 3, 99" } })
    t.strictSame(await rowsOf(id, "?reached=unsaid"), [2, 3])
    t.equal((await mark(id, [], true)).status, 422)
  })

  t.test("when it is redialed for them, then those who were reached are left alone", async (t) => {
    const id = await over("unknown", "unknown")
    await mark(id, [2], true)
    const only = { retry_on_voicemail: false, retry_on_no_answer: false, retry_on_busy: false }
    t.equal((await ask("POST", `/campaign/${id}/redial`, only)).status, 422)
    const child = await ask("POST", `/campaign/${id}/redial`, { ...only, retry_on_unknown: true })
    t.match(child.json, { total_rows: 1 })
    t.strictSame(await rowsOf(Number(bodyOf(child)["id"])), [3])
  })

  t.test("when it is redialed without mentioning them, then they are not called again", async (t) => {
    const id = await over("unknown", "busy")
    const child = await ask("POST", `/campaign/${id}/redial`, {})
    t.strictSame(await rowsOf(Number(bodyOf(child)["id"])), [3])
  })
})
