/** Lists that are checked before a campaign is created from them. What `contactLists` accepts and refuses is checked there. */
import { Effect, Result } from "effect"
import fc from "fast-check"
import t from "tap"
import { Campaigns } from "#core/campaign/Campaigns.ts"
import { install, makeAgent, makeCampaign, makeConfig, ours, people, theirs, upload } from "./services.ts"

const { run, sql, test } = await install(t)
const campaigns = await run(Campaigns)
const agent = await run(makeAgent("Remind {{first_name}} of {{ initial_context.city }} and {{day | today}}."))
await run(makeConfig("main"))

const written = sql<{ readonly rows: number }>`SELECT (SELECT count(*) FROM campaigns) + (SELECT count(*) FROM contacts)
  + (SELECT count(*) FROM campaign_log) + (SELECT count(*) FROM events) + (SELECT coalesce(sum(used), 0) FROM quotas WHERE name = 'rows') AS rows`

test(t, "given a list with faults, when it is checked, then all of them are told, and nothing is written", function* (t) {
  const sourceId = yield* upload(
    `Phone_Number;First_Name;city;shoe size\n+14155550100;Ada;Bern;40\n5550100;;Bern;41\n;Nobody;;\n+1 415 555 0100;Bo;Chur;42\n+14155550101;Cy;;43\n`
  )
  const before = yield* written
  const check = yield* campaigns.checkList(ours, { sourceId, agentId: agent.id })
  t.strictSame(check, {
    refusal: "Invalid phone numbers in rows: 3. All phone numbers must include country code (start with '+'). Row 3 has '5550100'",
    columns: ["Phone_Number", "First_Name", "city", "shoe size"],
    rowsInFile: 5,
    accepted: 2,
    skipped: 1,
    warnings: [],
    refused: {
      rows: 2,
      faults: [
        { rowNumber: 3, column: "Phone_Number", reason: "'5550100': no phone number with a country code (start with '+')" },
        { rowNumber: 3, column: "First_Name", reason: "template variable 'first_name' is empty" },
        {
          ...{ rowNumber: 5, column: "Phone_Number", reason: "row 2 has the same number" },
          repeats: { phoneNumber: "+14155550100", firstRow: 2 }
        }
      ]
    },
    repeated: { numbers: 1, first: [{ phoneNumber: "+14155550100", rows: [2, 5] }] },
    missingVariables: [],
    unusedColumns: ["shoe size"],
    contacts: [
      { rowNumber: 2, name: "Ada", city: "Bern", shoes: "40", phoneNumber: "+14155550100" },
      { rowNumber: 6, name: "Cy", city: "", shoes: "43", phoneNumber: "+14155550101" }
    ].map(({ city, name, phoneNumber, rowNumber, shoes }) => ({
      ...{ rowNumber, phoneNumber, greetingOverride: undefined },
      context: {
        ...{ Phone_Number: phoneNumber, phone_number: phoneNumber, First_Name: name, first_name: name, city, "shoe size": shoes }
      }
    }))
  })
  t.strictSame(yield* written, before)
})

test(t, "given a hundred thousand rows with faults, when they are checked, then the first are listed and all are counted", function* (t) {
  const numbers = Array.from({ length: 50_000 }, (_, row) => `+1415${5_000_000 + row}`)
  const sourceId = yield* upload(`phone_number\n${[...numbers, ...numbers].join("\n")}\n`)
  const check = yield* campaigns.checkList(ours, { sourceId, agentId: undefined })
  const { refused, repeated } = check
  t.match(check, { accepted: 50_000, rowsInFile: 100_000, refused: { rows: 50_000 }, repeated: { numbers: 50_000 } })
  t.strictSame([refused.faults.length, repeated.first.length, check.contacts.length], [100, 100, 5])
})

test(t, "given what is wrong beside the list, when it is checked, then it fails as a creation does", function* (t) {
  const sourceId = yield* upload(people(3))
  const check = (list: object) =>
    Effect.map(Effect.flip(campaigns.checkList(ours, { sourceId, agentId: agent.id, ...list })), ({ _tag }) => _tag)
  const foreign = yield* upload(people(3), theirs)
  const foreignAgent = yield* makeAgent(undefined, theirs)
  const tags = [
    yield* check({ sourceId: foreign }),
    yield* check({ agentId: foreignAgent.id }),
    yield* check({ telephonyConfigurationId: 777 })
  ]
  yield* sql`INSERT INTO quotas (organization_id, name, allowed) VALUES (${ours}, 'rows', 2) ON CONFLICT (organization_id, name) DO UPDATE SET allowed = 2`
  tags.push(yield* check({}))
  yield* sql`UPDATE quotas SET allowed = NULL WHERE name = 'rows'`
  t.strictSame(tags, ["SourceNotFound", "AgentNotFound", "TelephonyConfigNotFound", "QuotaFull"])
})

const phone = fc.oneof(
  { weight: 8, arbitrary: fc.integer({ min: 14155550100, max: 14155550160 }).map((digits) => `+${digits}`) },
  { weight: 1, arbitrary: fc.constantFrom("", " ", "5550100", "'+14155550199", "0041 44", "1.4E10") }
)
const cell = fc.oneof(
  { weight: 6, arbitrary: fc.constantFrom("Ada", "Bern") },
  { weight: 1, arbitrary: fc.constantFrom("", '"a"b', "x,y", "\ufffd") }
)
const header = fc.oneof(
  { weight: 8, arbitrary: fc.constant("phone_number,first_name,city") },
  { weight: 1, arbitrary: fc.constantFrom("phone,first_name", "phone_number,name", "phone_number,first_name,First_Name", "sep=;") }
)
const file = fc.record({ header, rows: fc.array(fc.tuple(phone, cell, cell), { maxLength: 6 }) })

test(t, "given any list, then a check accepts it if, and only if, a campaign can be created from it, and says the same", function* (t) {
  const verdicts: Array<boolean> = []
  for (const { header, rows } of fc.sample(file, { seed: 5, numRuns: 80 })) {
    const text = [header, ...rows.map((cells) => cells.join(","))].join("\n")
    const sourceId = yield* upload(text)
    const check = yield* campaigns.checkList(ours, { sourceId, agentId: agent.id })
    const created = yield* Effect.result(makeCampaign({ agentId: agent.id, sourceId }))
    verdicts.push(check.refusal === undefined)
    if (Result.isFailure(created)) t.match(created.failure, { _tag: "SourceRefused", reason: check.refusal }, text)
    else {
      const { accepted, rowsInFile, skipped, warnings } = check
      t.match(created.success.sourceSync, { accepted, rowsInFile, skipped, warnings }, text)
      t.strictSame([check.refusal, check.refused.rows], [undefined, 0], text)
    }
  }
  const accepted = verdicts.filter((one) => one).length
  t.ok(accepted >= 15 && verdicts.length - accepted >= 15, `${accepted} of ${verdicts.length} accepted`)
})
