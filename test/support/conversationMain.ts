/** A process with one conversation: stores everything up to the second node, reports that, and waits to be killed. */
import { Effect, Layer, Redacted } from "effect"
import { CallId, OrganizationId, RunId } from "#core/Id.ts"
import { ConversationRecords } from "#runtime/conversation/ConversationRecords.ts"
import { conversationSoFar, recordsLayer } from "./conversationScene.ts"
import { clientLayer } from "./postgres.ts"

const [url = "", dataDir = "", callId = "", organizationId = "", runId = "", phoneNumber = ""] = process.argv.slice(2)

const converse = Effect.gen(function* () {
  const records = yield* ConversationRecords
  const call = {
    callId: CallId.make(callId),
    organizationId: OrganizationId.make(Number(organizationId)),
    runId: RunId.make(Number(runId))
  }
  const { note } = records.open({ ...call, phoneNumber, timeZone: "America/New_York", isContinued: false, keepsTranscript: true })
  conversationSoFar(true).forEach(note)
  // Returns when all of it is in the database.
  yield* records.collect(call)
  process.stdout.write("written\n")
  yield* Effect.never
})

await Effect.runPromise(Effect.provide(converse, recordsLayer(dataDir).pipe(Layer.provide(clientLayer(Redacted.make(url))))))
