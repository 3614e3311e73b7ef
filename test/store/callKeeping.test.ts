/** Whether an organization keeps recordings and transcripts, as calls ask for it. */
import { Effect, Layer } from "effect"
import t from "tap"
import { CallKeeping } from "#core/file/CallKeeping.ts"
import { Retentions } from "#core/file/Retentions.ts"
import { install, ours, theirs } from "./services.ts"

const { test } = await install(t)

test(t, "given an organization that wants nothing to be kept, when a call starts, then that applies at once", function* (t) {
  const layer = Retentions.layer.pipe(Layer.provideMerge(CallKeeping.layer))
  const [{ of }, retentions] = yield* Effect.provide(Effect.all([CallKeeping, Retentions]), layer)
  const all = { recordings: true, transcripts: true }
  t.strictSame(yield* of(theirs), all)
  yield* retentions.set(theirs, { keepsRecordings: false, keepsTranscripts: false })
  t.strictSame(yield* of(theirs), { recordings: false, transcripts: false })
  yield* retentions.set(theirs, { keepsTranscripts: true, recordingsDays: 3 })
  t.strictSame(yield* of(theirs), { recordings: false, transcripts: true })
  t.strictSame(yield* of(ours), all)
})
