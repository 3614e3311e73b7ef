/** A slow stage of conversations names itself in the log of their campaign, without a word of what was said. */
import { Effect, Layer, Logger } from "effect"
import t from "tap"
import type { NewAttempt } from "#core/call/Attempt.ts"
import { defaultRetryConfig } from "#core/campaign/RetryPolicy.ts"
import type { CallFact } from "#core/conversation/ConversationEntry.ts"
import * as CallConversations from "#runtime/call/CallConversations.ts"
import { HttpTools } from "#runtime/conversation/HttpTools.ts"
import { json } from "#runtime/metrics/telemetry.ts"
import { installClaims } from "#test/store/claims.ts"
import { canaries, conversationSoFar, recordsLayer } from "#test/support/conversationScene.ts"
import { temporaryFolder } from "#test/support/dataFolder.ts"
import { witness } from "#test/support/postgres.ts"
import { untilTrue } from "#test/support/until.ts"

const { begin, claimBehind, database, ids, run, running } = await installClaims(t)
const sql = witness(database.url)
t.teardown(() => sql.end())

const settings = { breakerEnabled: false, breakerEpoch: 0, retriesUsed: 0, retry: defaultRetryConfig, settingsVersion: 0 }
const noTools = Layer.succeed(HttpTools, { run: () => Effect.die("no tool is used") })
const entriesOf = (campaign: number) =>
  sql<{ level: string; message: string; details: object }[]>`
    SELECT level, message, details FROM campaign_log WHERE campaign_id = ${campaign} AND event = 'conversation_slow'`

/** Has the callees of these calls wait for a language model for three seconds, and for others less than a tenth of one. */
const converse = (attempts: ReadonlyArray<NewAttempt>) =>
  CallConversations.CallConversations.use(({ record }) =>
    Effect.sync(() => {
      for (const attempt of attempts) {
        const call = { phoneNumber: attempt.phoneNumber, timeZone: "UTC", isContinued: false, keepsTranscript: true }
        const note = record(attempt, call)
        const waited = { _tag: "Waited", stage: "first_token", at: Date.UTC(2026, 2, 5, 15), processor: "acme" } as const
        const facts: ReadonlyArray<CallFact> = [
          { ...waited, millis: 3000, model: "brain" },
          { ...waited, millis: 80, model: "flash" }
        ]
        for (const fact of [...conversationSoFar(false), ...facts]) note(fact)
      }
    })
  )

t.test("given calls whose callees wait long for the language model, when three have, then the campaign's log names it", async (t) => {
  const logged: Array<string> = []
  const layer = CallConversations.layer.pipe(
    Layer.provideMerge(recordsLayer(temporaryFolder(t))),
    Layer.provide(noTools),
    Layer.provideMerge(Logger.layer([Logger.map(json, (line) => void logged.push(line))]))
  )
  const campaign = await run(running(["+13035550121", "+13035550122", "+13035550123"]))
  const { attempts } = await run(claimBehind(campaign, ids(3)))
  const alone = await run(begin("+13035550124"))
  await run(
    Effect.provide(
      Effect.gen(function* () {
        yield* converse([alone, alone, alone])
        yield* converse(
          attempts.map((attempt) => ({ ...attempt, campaign: { ...settings, campaignId: campaign.id, rowNo: attempt.rowNo } }))
        )
        yield* Effect.promise(() => untilTrue("an entry", async () => (await entriesOf(campaign.id)).length > 0))
      }),
      layer
    )
  )
  const entries = await entriesOf(campaign.id)
  const details = { stage: "first_token", provider: "acme", model: "brain", slow: 3, of: 3, p50_seconds: 3, worst_seconds: 3 }
  t.match(entries, [{ level: "warning", message: /language model is slow/, details }])
  t.equal(entries.length, 1, "then what is fast is not named")
  const told = logged.filter((line) => line.includes("conversation_slow"))
  t.match(told, [/first_token of acme brain: 3 of 3 waits/], "then the engine's log says so as well, once: a single call has no campaign")
  t.notMatch(JSON.stringify(entries) + told.join(""), new RegExp([...canaries, "303555"].join("|")))
})
