/**
 * What this process has really sent, and what it has learned about its calls: written to its own disk the moment it happens, without waiting
 * for the disk, so it survives a crash of the process but not one of the machine. An attempt that is `sent` in the database but missing from
 * the journal of the process that was to send it certainly never left.
 *
 * Journals lie in `DATA_DIR/journal`, by database, in one folder for each process. They hold call ids and, for calls whose end the database
 * does not have yet, what their runs will show. They are readable for their owner only, never logged, and removed once the database has it all.
 */
import { Clock, Context, Effect, Layer, Result } from "effect"
import { SqlClient } from "effect/sql"
import { randomUUID } from "node:crypto"
import { mkdirSync } from "node:fs"
import { join } from "node:path"
import type { AttemptEnd } from "#core/call/Attempt.ts"
import type { CallId } from "#core/Id.ts"
import { Config } from "#runtime/config/config.ts"
import { bootId } from "./bootId.ts"
import { FormerJournals, headerText, type Known, NO_ENDPOINT, type Undone } from "./FormerJournals.ts"
import { RefusedRecords } from "./RefusedRecords.ts"
import { append, type Append, Segments } from "./Segments.ts"

/** How often writing is retried after a failure. */
const TRY_AGAIN = "1 second"
const TIDY_EVERY = "30 seconds"
/**
 * How long a settled call is remembered. A database that fails over may lose its latest commits, and an attempt that is `sent` again must not
 * look as if it had never left.
 */
const REMEMBER_MILLIS = 120_000

/** How lines reach the disk; tests make it fail. */
export const JournalAppend = Context.Reference<Append>("runtime/journal/JournalAppend", { defaultValue: () => append })

export class LocalJournal extends Context.Service<
  LocalJournal,
  {
    /** The id of this process's journal. */
    readonly id: string
    /** The call leaves at this very moment. False: that could not be written, or the call is withheld, so it must not leave. */
    readonly left: (callId: CallId, endpoint?: string) => boolean
    /** From now on the call cannot leave. False: it has left already. */
    readonly withhold: (callId: CallId) => boolean
    /** The provider has the call. */
    readonly placed: (callId: CallId) => void
    readonly answered: (callId: CallId, at: number) => void
    readonly undone: (callId: CallId, undone: Undone) => void
    readonly ended: (callId: CallId, end: AttemptEnd) => void
    /** The database refuses the record for its content: it is kept for the operator. False when it could not be. */
    readonly refused: (callId: CallId, end: AttemptEnd) => boolean
    /** The database has everything about it. */
    readonly settled: (callId: CallId) => void
    /** What is known of an attempt that this or another process left behind. */
    readonly known: (callId: CallId, journal: string | undefined) => Known
    /** Takes all attempts that are not over, and removes former journals that none of them needs. */
    readonly keepFor: FormerJournals["keepFor"]
    /** Why nothing can leave; undefined while it can. */
    readonly failure: () => string | undefined
    /** Calls `wake` when it can be written again, until the function it returns is called. */
    readonly watch: (wake: () => void) => () => void
  }
>()("runtime/journal/LocalJournal") {
  static readonly layer = Layer.effect(
    LocalJournal,
    Effect.gen(function* () {
      const { dataDir } = yield* Config
      const write = yield* JournalAppend
      const clock = yield* Clock.Clock
      const root = join(dataDir, "journal", yield* installation)
      const { calls, ends, former, id, refused } = yield* Effect.sync(() => openJournal(root, write))
      const withheld = new Map<string, number>()
      const watchers = new Set<() => void>()
      let failure: string | undefined
      let isGone = false
      const now = () => Number(clock.monotonicTimeNanosUnsafe() / 1_000_000n)
      const log = Effect.runForkWith(yield* Effect.context<never>())

      const failed = (why: string) => {
        if (failure === undefined) log(Effect.logError("the local journal cannot be written: nothing is dialed", { why }))
        failure = why
      }
      /** False when it failed. */
      const written = (put: () => void) => {
        const result = Result.try(put)
        if (Result.isSuccess(result)) return true
        failed(codeOf(result.failure))
        return false
      }
      /** Checked after the line has been written: whoever takes the journal over closes it first, and then reads. */
      const isOurs = () => {
        if (isGone || calls.isOpen()) return !isGone
        isGone = true
        failed("it was closed or removed, perhaps by another engine; this process has to be started again")
        return false
      }
      const tryAgain = () => {
        if (failure === undefined || isGone || !Result.isSuccess(Result.try(() => calls.probe())) || !isOurs()) return
        failure = undefined
        log(Effect.logInfo("the local journal can be written again"))
        for (const wake of watchers) wake()
      }
      const tidy = () => {
        calls.prune(now() - REMEMBER_MILLIS)
        ends.prune(now())
        for (const [callId, at] of withheld) if (at <= now() - REMEMBER_MILLIS * 10) withheld.delete(callId)
      }

      written(() => calls.probe())
      yield* Effect.forkScoped(Effect.forever(Effect.delay(Effect.sync(tryAgain), TRY_AGAIN)))
      yield* Effect.forkScoped(Effect.forever(Effect.delay(Effect.sync(tidy), TIDY_EVERY)))
      yield* Effect.addFinalizer(() =>
        Effect.sync(() => {
          // Left in place: the next process reads it, and removes it when no attempt needs it.
          calls.close()
          ends.close()
        })
      )

      return {
        id,
        left: (callId, endpoint = "") => {
          if (failure !== undefined || withheld.has(callId)) return false
          // What an adapter from a package calls it must not break the line.
          const where = /^[!-~]{1,300}$/.test(endpoint) ? endpoint : NO_ENDPOINT
          const line = `left ${callId} ${where} ${uptimeMillis()}`
          // Asked before only because it takes 20 µs the first time and 3 µs the second, in which a kill leaves a doubt.
          return isOurs() && written(() => calls.write(callId, line)) && isOurs()
        },
        withhold: (callId) => {
          if (calls.has(callId)) return false
          withheld.set(callId, now())
          return true
        },
        placed: (callId) => void written(() => calls.write(callId, `placed ${callId}`)),
        answered: (callId, at) => void written(() => calls.write(callId, `answered ${callId} ${at}`)),
        undone: (callId, { at, breakerEntry }) => void written(() => calls.write(callId, `undone ${callId} ${at} ${breakerEntry}`)),
        ended: (callId, end) => void written(() => ends.write(callId, `ended ${callId} ${JSON.stringify(end)}`)),
        refused: (callId, end) => refused.keep(callId, end),
        settled: (callId) => {
          former.settled(callId)
          calls.settle(callId, now())
          ends.settle(callId, now())
          written(() => ends.clear())
        },
        known: (callId, journal) => {
          const known = former.known(callId, journal)
          if (calls.has(callId)) known.left = "left"
          else if (journal === id) known.left = "never_left"
          return known
        },
        keepFor: (attempts) => former.keepFor(attempts),
        failure: () => failure,
        watch: (wake) => {
          watchers.add(wake)
          return () => watchers.delete(wake)
        }
      }
    })
  )
}

const installation = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const [row] = yield* sql<{ readonly id: string }>`SELECT id FROM installation`
  return row === undefined ? yield* Effect.die("the installation has no name") : row.id
}).pipe(Effect.orDie)

const openJournal = (root: string, write: Append) => {
  const boot = bootId()
  mkdirSync(root, { mode: 0o700, recursive: true })
  const former = new FormerJournals(root, boot)
  const id = randomUUID()
  const folder = join(root, id)
  mkdirSync(folder, { mode: 0o700 })
  const header = headerText({ boot, journalId: id })
  const calls = new Segments(folder, "calls", header, write)
  const ends = new Segments(folder, "ends", header, write)
  return { calls, ends, former, id, refused: new RefusedRecords(root) }
}

/** The same clock for all processes since the machine was booted, whatever the time of day is set to. */
export const uptimeMillis = (): number => Number(process.hrtime.bigint() / 1_000_000n)

/** The code alone: paths are of no use to whoever reads the log. */
const codeOf = (error: unknown): string =>
  error instanceof Error ? ("code" in error && typeof error.code === "string" ? error.code : error.message) : String(error)
