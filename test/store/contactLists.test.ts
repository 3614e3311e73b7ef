/** Creating a campaign from lists as bytes: what becomes of them in the database. What makes a list invalid is in `core/contactCsv`. */
import { Effect, Result } from "effect"
import t from "tap"
import type { CampaignId } from "#core/Id.ts"
import { definition, install, makeAgent, makeCampaign, makeConfig, ours, people, upload } from "./services.ts"
import { Agents } from "#core/agent/Agents.ts"
import { rowsOf, workbookOf } from "#test/support/workbook.ts"
import { Campaigns } from "#core/campaign/Campaigns.ts"

const { run, sql, test } = await install(t)
const agents = await run(Agents)
await run(makeConfig("main"))

const phones = (id: CampaignId) =>
  sql<{ readonly phone: string; readonly name: unknown }>`
    SELECT phone_number AS phone, context ->> 'first_name' AS name FROM contacts WHERE campaign_id = ${id} ORDER BY row_no`

const create = Effect.fnUntraced(function* (bytes: string | Uint8Array) {
  const { id, sourceSync } = yield* makeCampaign({ sourceId: yield* upload(bytes) })
  return { contacts: (yield* phones(id)).map(({ name, phone }) => `${phone} ${name}`), sourceSync }
})

/** What a check says against the list; undefined if nothing. */
const faultOf = Effect.fnUntraced(function* (bytes: string | Uint8Array) {
  const list = { sourceId: yield* upload(bytes), agentId: (yield* makeAgent()).id }
  return (yield* Campaigns.use((_) => _.checkList(ours, list))).refusal
})

const utf16 = (text: string, order: "le" | "be"): Uint8Array => {
  const bytes = Buffer.from(`\ufeff${text}`, "utf16le")
  return order === "le" ? bytes : bytes.swap16()
}
const plain = "phone_number,first_name\r\n+14155550100,Zoë\r\n+14155550101,Bo\r\n"
const both = ["+14155550100 Zoë", "+14155550101 Bo"]

const accept = (name: string, bytes: string | Uint8Array, contacts: ReadonlyArray<string> = both) =>
  t.test(`accepted: ${name}`, async (t) => {
    t.strictSame((await run(create(bytes))).contacts, contacts)
    t.equal(await run(faultOf(bytes)), undefined)
  })

accept("plain UTF-8", plain)
accept("UTF-8 with a byte order mark", `\ufeff${plain}`)
accept("UTF-16, little end first", utf16(plain, "le"))
accept("UTF-16, big end first", utf16(plain, "be"))
accept("lone carriage returns", plain.replaceAll("\r\n", "\r"))
accept("blank lines, and no line end at the end", `\n\n${plain.replaceAll("\r\n", "\n\n").trimEnd()}`)
accept("quotes, with a delimiter and a line end inside", 'phone_number,first_name\n+14155550100,"A, ""B""\nC"\n', [
  '+14155550100 A, "B"\nC'
])
accept("a delimiter of its own", `sep=|\n${plain.replaceAll(",", "|")}`)
accept(
  "a workbook, whatever its name says",
  workbookOf({
    sheets: [
      rowsOf([
        ["phone_number", "first_name"],
        ["+14155550100", "Zoë"],
        ["", ""],
        ["+14155550101", "Bo"]
      ])
    ]
  })
)
accept(
  "numbers in a workbook whose format has the sign",
  workbookOf({
    formats: ['"+"0'],
    sheets: [
      `${rowsOf([["phone_number", "first_name"]])}<row><c s="1"><v>1.41555501E10</v></c><c t="s"><v>0</v></c></row><row><c s="1"><v>14155550101</v></c><c t="s"><v>1</v></c></row>`
    ],
    texts: ["<t>Zoë</t>", "<t>Bo</t>"]
  })
)
accept("what looks like Excel's text inside a quoted cell", 'phone_number,first_name\n+14155550100,"a\n=""b"",=""c"""\n', [
  '+14155550100 a\n="b",="c"'
])
accept("characters that nobody sees", "\u200bphone_number,first_name\n\u202a+14155550100\u202c,Zoë\n+1\u2011415\u2011555\u20110101,Bo\n")

const refuse = (name: string, bytes: () => string | Uint8Array, reason: string | RegExp) =>
  test(t, `refused: ${name}`, function* (t) {
    const rows = sql`SELECT (SELECT count(*)::int FROM campaigns) AS campaigns, (SELECT count(*)::int FROM contacts) AS contacts,
        (SELECT count(*)::int FROM campaign_log) AS log`
    const before = yield* rows
    const result = yield* Effect.result(create(bytes()))
    const left = { before, after: yield* rows }
    t.match(Result.isFailure(result) ? result.failure : result, { _tag: "SourceRefused", reason })
    t.match(yield* faultOf(bytes()), reason)
    t.strictSame(left.after, left.before, "nothing is left behind")
  })

const invalid = "Invalid CSV format: "
/** A header and a valid row. */
const list = "phone_number,first_name\n+14155550100,A\n"
refuse("an empty file", () => "", "CSV file must have a header row and at least one data row")
refuse("11 MiB", () => people(10).padEnd(11 * 1024 * 1024, "+14155559999,x\n"), "CSV file is larger than 10485760 bytes")
refuse("an unterminated quote", () => `${list}+14155550101,"B\n+14155550102,C\n`, `${invalid}the quote that opens in row 3 is not closed`)
refuse(
  "an unterminated quote before two million characters",
  () => `phone_number,first_name\n+14155550100,"A\n${"x\n".repeat(1_000_000)}`,
  `${invalid}row 2 is too long, or its quote is not closed`
)
refuse(
  "a workbook whose numbers have no sign",
  () => workbookOf({ sheets: [`${rowsOf([["phone_number", "first_name"]])}<row><c><v>14155550100</v></c></row>`] }),
  /country code.*Row 2 has '14155550100'/
)
refuse(
  "a workbook that is cut off",
  () => workbookOf({ sheets: [rowsOf([["phone_number"]])] }).subarray(0, 500),
  "Invalid workbook: it is cut off"
)
refuse("a workbook of old", () => Buffer.from("d0cf11e0a1b11ae1", "hex"), /^Invalid workbook: it is in the format of Excel before 2007/)
refuse("a formula", () => 'phone_number,first_name\n="+14155550100"&"1",A\n', `${invalid}a quote in the wrong place in row 2`)
refuse("a quote in the middle", () => 'phone_number,first_name\n+14155550100,A"B\n', `${invalid}a quote in the wrong place in row 2`)
refuse("text after a closing quote", () => 'phone_number,first_name\n+14155550100,"A"B\n', `${invalid}a quote in the wrong place in row 2`)
refuse("a NUL", () => `${list}+14155550101,B\0\n`, /not text in rows: 3/)
refuse("bytes that are not UTF-8", () => Buffer.from(`${list}+14155550101,Zo\xeb\n`, "latin1"), `${invalid}row 3 is not UTF-8 text`)
refuse(
  "bytes that are not UTF-8, far into the file",
  () => Buffer.concat([Buffer.from(people(5000)), Buffer.from("+14169990000,\xff,X\n", "latin1")]),
  `${invalid}row 5002 is not UTF-8 text`
)
refuse(
  "half a character at the end",
  () => Buffer.from([...Buffer.from("phone_number,first_name\n+14155550100,Zo"), 0xc3]),
  `${invalid}row 2 is not UTF-8 text`
)
refuse(
  "UTF-16 with half a pair",
  () => utf16("phone_number,first_name\n+14155550100,\ud800A\n", "le"),
  `${invalid}row 2 is not UTF-16LE text`
)
refuse(
  "a missing variable",
  () => "phone_number,name\n+14155550100,A\n",
  "Workflow uses template variables that are missing from the source data: 'first_name'. Add the missing columns or remove them from the workflow."
)
refuse("UTF-16 without a mark", () => Buffer.from(plain, "utf16le"), invalid)

test(t, "refused: 11 MiB that were declared as less", function* (t) {
  const long = people(10).padEnd(11 * 1024 * 1024, `+14155559999,${"x".repeat(4000)}\n`)
  const refusal = yield* Effect.flip(Effect.flatMap(upload(long, ours, 1000), (sourceId) => makeCampaign({ sourceId })))
  t.match(refusal, { _tag: "SourceRefused", reason: "CSV file is larger than 10485760 bytes" })
})

test(t, "a number that its country does not have, and an incomplete greeting, are warnings", function* (t) {
  const { contacts, sourceSync } = yield* create(
    "phone_number,first_name,greeting_override_type\n+1415555010,A,\n+999123456789,B,\n+14155550100,C,text\n"
  )
  t.equal(contacts.length, 3)
  t.match(sourceSync, { rowsInFile: 3, accepted: 3, skipped: 0, status: "completed", error: null })
  t.strictSame(sourceSync.warnings, [
    "Phone numbers that are not possible in their country's numbering plan in rows: 2, 3",
    "Incomplete or unknown greeting override ignored in rows: 4"
  ])
})

test(t, "a contact's own greeting is in its context, and its variables are required too", function* (t) {
  const header = "phone_number,first_name,greeting_override_type,greeting_override_text,greeting_override_recording_id\n"
  const { id } = yield* makeCampaign({
    sourceId: yield* upload(`${header}+14155550100,A,text,Ciao {{first_name}},\n+14155550101,B,audio,,rec-1\n`)
  })
  const context = yield* sql`SELECT context FROM contacts WHERE campaign_id = ${id} ORDER BY row_no`
  t.strictSame(context, [
    { context: { phone_number: "+14155550100", first_name: "A", greeting_override: { type: "text", text: "Ciao {{first_name}}" } } },
    { context: { phone_number: "+14155550101", first_name: "B", greeting_override: { type: "audio", recording_id: "rec-1" } } }
  ])
  t.match(yield* Effect.flip(create(`${header}+14155550100,A,text,Ciao {{nickname}},\n`)), { _tag: "SourceRefused", reason: /'nickname'/ })
})

test(t, "a hundred thousand contacts are found through indexes only", function* (t) {
  const agent = yield* makeAgent()
  yield* agents.update(ours, agent.id, { definition: definition("{{city}}") })
  const campaign = yield* makeCampaign({ sourceId: yield* upload(people(100_000)), agentId: agent.id })
  yield* sql`ANALYZE contacts`
  const plans = yield* Effect.forEach(
    [
      sql`EXPLAIN SELECT row_no FROM contacts WHERE campaign_id = ${campaign.id} AND state = 'pending' AND NOT awaits_number ORDER BY row_no LIMIT 50 FOR UPDATE SKIP LOCKED`,
      sql`EXPLAIN SELECT row_no FROM contacts WHERE campaign_id = ${campaign.id} AND state = 'retry_wait' AND NOT awaits_number AND due_at <= now()
        ORDER BY due_at, row_no LIMIT 50 FOR UPDATE SKIP LOCKED`,
      sql`EXPLAIN SELECT 1 FROM runs WHERE campaign_id = ${campaign.id} ORDER BY created_at DESC, id DESC LIMIT 50`
    ],
    (plan) => Effect.map(plan, (rows) => JSON.stringify(rows))
  )
  t.equal(campaign.counters.totalRows, 100_000)
  const isScanned = plans.some((plan) => plan.includes("Seq Scan on contacts"))
  t.notOk(isScanned, "no scan of the contacts")
})
