/** An engine that is killed during a conversation. The state of the conversation is planted as its process would have stored it. */
import { appendFileSync, globSync } from "node:fs"
import { join } from "node:path"
import t from "tap"
import { ConversationRecord } from "#core/conversation/ConversationRecord.ts"
import { sealed } from "#runtime/journal/JournalLine.ts"
import { conversationSoFar } from "#test/support/conversationScene.ts"
import { numbersOf, untilTrue, World } from "#test/support/engine.ts"

const retry = { maxRetries: 0 }

t.test("given a conversation in its second node, whose callee has opted out, when the engine is killed", async (t) => {
  const world = await World.open(t, { emulator: { media: false, ringMillis: 100 }, environment: { RECORDINGS: "off" } })
  const { dataDir, emulator, sql } = world
  const [number = ""] = numbersOf(1, ["01"])
  emulator.letTalk(true)
  const { id } = await world.campaign([number], { retry })
  await world.api.start(id)
  await untilTrue("an answer", async () => (await sql`SELECT FROM attempts WHERE campaign_id = ${id} AND state = 'answered'`).length === 1)
  const [{ callId = "", organizationId = 0 } = {}] = await sql<{ callId: string; organizationId: number }[]>`
    SELECT id AS "callId", organization_id AS "organizationId" FROM attempts WHERE campaign_id = ${id}`
  const record = new ConversationRecord({ keepsTranscript: true, timeZone: "America/New_York" })
  const entries = conversationSoFar(false).flatMap((fact) => record.take(fact))
  for (const [ordinal, { content, kind }] of entries.entries())
    await sql`INSERT INTO conversation_entries (call_id, ordinal, organization_id, kind, content)
      VALUES (${callId}, ${ordinal}, ${organizationId}, ${kind}, ${JSON.stringify(content)}::text::jsonb)`
  const [journal = ""] = globSync(join(dataDir, "journal", "*", "*", "calls.1"))
  appendFileSync(journal, sealed(`opted_out ${callId}`))
  await world.end("SIGKILL")
  await world.launch()
  await world.api.untilState(id, "completed")

  await t.test("then the run has everything up to the kill", async (t) => {
    const [run] = await world.api.runs(id)
    t.match(run, {
      gathered_context: {
        mood: "merry",
        dtmf_digits: "7",
        call_disposition: "user_disqualified",
        hangup_cause: "node_lost",
        call_tags: ["user_disqualified", "user_speech", "opted_out"]
      },
      usage_info: { tts: { "flite#0|||slt": 30 } },
      annotations: { conversation: { turns: 2 } }
    })
    const [{ logs, key } = {}] = await sql`SELECT logs, transcript_key AS key FROM runs WHERE campaign_id = ${id}`
    t.equal(logs.realtime_feedback_events.length, 9)
    t.match(key, /^transcripts\//)
    t.equal((await sql`SELECT FROM conversation_entries`).length, 0)
  })

  await t.test("then the callee is never called again", async (t) => {
    t.match(await sql`SELECT phone_number, source FROM opt_outs`, [{ phone_number: number, source: "call" }])
    const again = await world.campaign([number], { retry })
    await world.api.start(again.id)
    await world.api.untilState(again.id, "completed")
    t.equal(emulator.log.dialsByNumber().get(number), 1)
  })
})
