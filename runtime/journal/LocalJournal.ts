/**
 * What this process has really sent, and what it has learned about its calls. Each line is written to its own disk the moment it happens,
 * without waiting for the disk, so it survives a crash of the process but not one of the machine. An attempt that is `sent` in the database
 * but missing from the journal of the process that was to send it certainly never left.
 *
 * Journals are kept in `DATA_DIR/journal`, by database, in one folder for each process. They hold call ids and, for calls whose end the
 * database does not have yet, what their runs will show, without anything that was said or keyed. Only their owner can read them; they are never
 * logged, and are removed once the database has everything.
 */
import { Clock, Context, Effect, Layer, Result } from "effect"
import { SqlClient } from "effect/sql"
import { randomUUID } from "node:crypto"
import { mkdirSync } from "node:fs"
import { join } from "node:path"
import type { AttemptEnd } from "#core/call/Attempt.ts"
import type { CallId } from "#core/Id.ts"
import type { DialedContact } from "#core/call/LostAttempts.ts"
import { installationId } from "#core/organization/InstallationStore.ts"
import { Config } from "#runtime/config/config.ts"
import { bootId } from "./bootId.ts"
import { contactText, FormerJournals, headerText, type KnownCall, NO_ENDPOINT, NOT_MUTED, type Undone } from "./FormerJournals.ts"
import { RecentCalls } from "./RecentCalls.ts"
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

/** Writes lines to the disk; tests replace it to make writing fail. */
export const JournalAppend = Context.Reference<Append>("runtime/journal/JournalAppend", { defaultValue: () => append })

export class LocalJournal extends Context.Service<
  LocalJournal,
  {
    /** The id of this process's journal. */
    readonly id: string
    /**
     * Notes that the call leaves at this very moment; `contact`: whom it dials for a campaign. False: that could not be written, or the call is
     * withheld, so it must not leave.
     */
    readonly left: (callId: CallId, endpoint?: string, contact?: DialedContact) => boolean
    /** Makes sure that the call cannot leave from now on. False: it has left already. */
    readonly withhold: (callId: CallId) => boolean
    /** The provider has the call. */
    readonly placed: (callId: CallId) => void
    /** The provider's own id of the call, as `isProviderCallId` allows it. */
    readonly named: (callId: CallId, providerCallId: string) => void
    readonly answered: (callId: CallId, at: number) => void
    /** The audio of an answered call has ended. Undefined: it is back. */
    readonly muted: (callId: CallId, at: number | undefined) => void
    /** The callee must not be called again. */
    readonly optedOut: (callId: CallId) => void
    /** The request to hand its callee to somebody else leaves. */
    readonly handed: (callId: CallId, transfer: number) => void
    readonly undone: (callId: CallId, undone: Undone) => void
    readonly ended: (callId: CallId, end: AttemptEnd) => void
    /** Keeps, for the operator, a record that the database refuses for its content. False when it could not be kept. */
    readonly refused: (callId: CallId, end: AttemptEnd) => boolean
    /** The database has everything about the call. */
    readonly settled: (callId: CallId) => void
    /** The calls of campaigns that this process has sent of late, and those that the journals of former processes name. */
    readonly dialed: () => ReadonlyMap<CallId, DialedContact>
    /** What is known of an attempt that this or another process left behind. */
    readonly known: (callId: CallId, journal: string | undefined) => KnownCall
    /** Given all attempts that are not over, removes former journals that none of them needs. */
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
      const own = new OwnJournal(calls, ends, clock, Effect.runForkWith(yield* Effect.context<never>()))

      own.probe()
      yield* Effect.forkScoped(
        Effect.forever(
          Effect.delay(
            Effect.sync(() => own.tryAgain()),
            TRY_AGAIN
          )
        )
      )
      yield* Effect.forkScoped(
        Effect.forever(
          Effect.delay(
            Effect.sync(() => own.tidy()),
            TIDY_EVERY
          )
        )
      )
      // Left in place: the next process reads it, and removes it when no attempt needs it.
      yield* Effect.addFinalizer(() => Effect.sync(() => own.close()))

      return {
        id,
        left: (callId, endpoint, contact) => own.left(callId, endpoint, contact),
        withhold: (callId) => own.withhold(callId),
        placed: (callId) => own.note(callId, `placed ${callId}`),
        named: (callId, providerCallId) => own.note(callId, `named ${callId} ${providerCallId}`),
        answered: (callId, at) => {
          own.recent.answered(callId, at)
          own.note(callId, `answered ${callId} ${at}`)
        },
        dialed: () => new Map([...former.dialed(), ...own.recent.dialed()]),
        muted: (callId, at) => own.note(callId, `muted ${callId} ${at ?? NOT_MUTED}`),
        optedOut: (callId) => own.note(callId, `opted_out ${callId}`),
        handed: (callId, transfer) => own.note(callId, `handed ${callId} ${transfer}`),
        undone: (callId, { at, breakerEntry }) => {
          own.recent.undone(callId, { at, breakerEntry })
          own.note(callId, `undone ${callId} ${at} ${breakerEntry}`)
        },
        ended: (callId, end) => {
          own.recent.ended(callId, end)
          own.noteEnd(callId, `ended ${callId} ${JSON.stringify(end)}`)
        },
        refused: (callId, end) => refused.keep(callId, end),
        settled: (callId) => {
          former.settled(callId)
          own.settled(callId)
        },
        known: (callId, journal) => {
          const known = own.recent.known(callId, former.known(callId, journal))
          if (own.hasLeft(callId)) known.left = "left"
          else if (journal === id) known.left = "never_left"
          return known
        },
        keepFor: (attempts) => former.keepFor(attempts),
        failure: () => own.failure,
        watch: (wake) => own.watch(wake)
      }
    })
  )
}

/** The journal of this process. */
class OwnJournal {
  readonly #calls: Segments
  /** Ends of calls, apart because they are large and soon settled. */
  readonly #ends: Segments
  readonly #clock: Clock.Clock
  readonly #log: (entry: Effect.Effect<void>) => unknown
  /** Calls that must not leave, with the time from which that holds. */
  readonly #withheld = new Map<string, number>()
  readonly #watchers = new Set<() => void>()
  /** Another process has closed or removed it. */
  #isGone = false
  /** Why nothing can leave; undefined while it can. */
  failure: string | undefined
  readonly recent = new RecentCalls()

  constructor(calls: Segments, ends: Segments, clock: Clock.Clock, log: (entry: Effect.Effect<void>) => unknown) {
    this.#calls = calls
    this.#ends = ends
    this.#clock = clock
    this.#log = log
  }

  left(callId: CallId, endpoint = "", contact?: DialedContact): boolean {
    if (this.failure !== undefined || this.#withheld.has(callId)) return false
    // An adapter from a package may name its endpoint in a way that would break the line.
    const where = /^[!-~]{1,300}$/.test(endpoint) ? endpoint : NO_ENDPOINT
    const whom = contact === undefined ? "" : ` ${contactText(contact)}`
    const line = `left ${callId} ${where} ${uptimeMillis()}${whom}`
    // Checked before as well only because the first check takes 20 µs and the next one 3 µs: a kill in that time leaves a doubt.
    const hasLeft = this.#isOurs() && this.#written(() => this.#calls.write(callId, line)) && this.#isOurs()
    if (hasLeft) this.recent.left(callId, contact)
    return hasLeft
  }

  hasLeft(callId: CallId): boolean {
    return this.#calls.has(callId)
  }

  withhold(callId: CallId): boolean {
    if (this.#calls.has(callId)) return false
    this.#withheld.set(callId, this.#now())
    return true
  }

  note(callId: CallId, line: string): void {
    this.#written(() => this.#calls.write(callId, line))
  }

  noteEnd(callId: CallId, line: string): void {
    this.#written(() => this.#ends.write(callId, line))
  }

  settled(callId: CallId): void {
    this.#calls.settle(callId, this.#now())
    this.#ends.settle(callId, this.#now())
    this.recent.settled(callId, this.#now())
    this.#written(() => this.#ends.clear())
  }

  watch(wake: () => void): () => void {
    this.#watchers.add(wake)
    return () => this.#watchers.delete(wake)
  }

  probe(): void {
    this.#written(() => this.#calls.probe())
  }

  tryAgain(): void {
    if (this.failure === undefined || this.#isGone || !Result.isSuccess(Result.try(() => this.#calls.probe())) || !this.#isOurs()) return
    this.failure = undefined
    this.#log(Effect.logInfo("the local journal can be written again"))
    for (const wake of this.#watchers) wake()
  }

  tidy(): void {
    const now = this.#now()
    this.#calls.prune(now - REMEMBER_MILLIS)
    this.#ends.prune(now)
    this.recent.forget(now - REMEMBER_MILLIS)
    for (const [callId, at] of this.#withheld) if (at <= now - REMEMBER_MILLIS * 10) this.#withheld.delete(callId)
  }

  close(): void {
    this.#calls.close()
    this.#ends.close()
  }

  /** Checked after the line has been written: a process that takes the journal over closes it first, and then reads it. */
  #isOurs(): boolean {
    if (this.#isGone || this.#calls.isOpen()) return !this.#isGone
    this.#isGone = true
    this.#failed("it was closed or removed, perhaps by another engine; this process has to be started again")
    return false
  }

  /** False when it failed. */
  #written(put: () => void): boolean {
    const result = Result.try(put)
    if (Result.isSuccess(result)) return true
    this.#failed(codeOf(result.failure))
    return false
  }

  #failed(why: string): void {
    if (this.failure === undefined) this.#log(Effect.logError("the local journal cannot be written: nothing is dialed", { why }))
    this.failure = why
  }

  #now(): number {
    return Number(this.#clock.monotonicTimeNanosUnsafe() / 1_000_000n)
  }
}

const installation = Effect.orDie(Effect.flatMap(SqlClient.SqlClient, installationId))

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

/** A clock that all processes share since the machine was booted, and that setting the time of day does not change. */
export const uptimeMillis = (): number => Number(process.hrtime.bigint() / 1_000_000n)

/** Only the error code: paths are of no use to a reader of the log. */
const codeOf = (error: unknown): string =>
  error instanceof Error ? ("code" in error && typeof error.code === "string" ? error.code : error.message) : String(error)
