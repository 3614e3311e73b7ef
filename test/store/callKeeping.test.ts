/** Whether an organization keeps recordings and transcripts, as calls ask for it. */
import { Effect, Layer } from "effect"
import t from "tap"
import { CallKeeping } from "#core/file/CallKeeping.ts"
import { Retentions } from "#core/file/Retentions.ts"
import { install, ours, theirs } from "./services.ts"

const { run } = await install(t)

t.test("given an organization that wants nothing to be kept, when a call starts, then that applies at once", async (t) => {
  const asked = await run(
    Effect.gen(function* () {
      const { of } = yield* CallKeeping
      const retentions = yield* Retentions
      const before = yield* of(theirs)
      yield* retentions.set(theirs, { keepsRecordings: false, keepsTranscripts: false })
      const off = yield* of(theirs)
      yield* retentions.set(theirs, { keepsTranscripts: true, recordingsDays: 3 })
      return [before, off, yield* of(theirs), yield* of(ours)]
    }).pipe(Effect.provide(Retentions.layer.pipe(Layer.provideMerge(CallKeeping.layer))))
  )
  const all = { recordings: true, transcripts: true }
  t.strictSame(asked, [all, { recordings: false, transcripts: false }, { recordings: false, transcripts: true }, all])
})
