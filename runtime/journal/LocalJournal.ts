/**
 * What this process has really sent, and what it has learned about its calls. Each line is written to the local disk the moment it happens,
 * without waiting for the disk, so it survives a crash of the process but not one of the machine. An attempt that is `sent` in the database but
 * missing from the journal of the process that was to send it was certainly never sent.
 *
 * Journals are kept in `DATA_DIR/journal`, by database, in one folder per process. They hold call ids; for calls whose end the database does not
 * have yet, what their runs will show, without anything that was said or keyed; and recent promises to clients, encrypted. Only their owner can
 * read them; they are never logged, and are removed once the database has everything.
 */
import { Clock, Context, type Duration, Effect, Layer, Result } from "effect"
import { SqlClient } from "effect/sql"
import { randomUUID } from "node:crypto"
import { mkdirSync } from "node:fs"
import { join } from "node:path"
import type { AttemptEnd } from "#core/call/Attempt.ts"
import type { CallId } from "#core/Id.ts"
import type { DialedContact } from "#core/call/LostAttempts.ts"
import type { SteadyMillis } from "#core/SteadyTime.ts"
import { installationId } from "#core/organization/InstallationStore.ts"
import { Config } from "#runtime/config/config.ts"
import { bootId } from "./bootId.ts"
import {
  contactText,
  forgottenText,
  FormerJournals,
  headerText,
  type KnownCall,
  NO_ENDPOINT,
  NOT_MUTED,
  promiseText,
  type Undone
} from "./FormerJournals.ts"
import { RecentCalls } from "./RecentCalls.ts"
import { RefusedRecords } from "./RefusedRecords.ts"
import { append, type Append, Segments } from "./Segments.ts"

/** How often writing is retried after a failure. */
const TRY_AGAIN = "1 second"
/**
 * How long a settled call is remembered. A database that fails over may lose its latest commits, and an attempt that becomes `sent` again must
 * not look as if it had never been sent.
 */
const REMEMBER_MILLIS = 600_000
/** Tests remember for a shorter time. */
export const Memory = Context.Reference<{ readonly millis: number; readonly tidyEvery: Duration.Input }>("runtime/journal/Memory", {
  defaultValue: () => ({ millis: REMEMBER_MILLIS, tidyEvery: "30 seconds" })
})

/** Writes lines to the disk; tests replace it to make writing fail. */
export const JournalAppend = Context.Reference<Append>("runtime/journal/JournalAppend", { defaultValue: () => append })

export class LocalJournal extends Context.Service<
  LocalJournal,
  {
    /** The id of this process's journal. */
    readonly id: string
    /**
     * Notes that the call's request is being sent right now; `contact`: whom it dials for a campaign. False if that could not be written or the
     * call is withheld, so the request must not be sent.
     */
    readonly left: (callId: CallId, endpoint?: string, contact?: DialedContact) => boolean
    /** Ensures that the call cannot be sent from now on. False if it has already been sent. */
    readonly withhold: (callId: CallId) => boolean
    /** The provider has the call. */
    readonly placed: (callId: CallId) => void
    /** The provider's own id for the call, in the form that `isProviderCallId` allows. */
    readonly named: (callId: CallId, providerCallId: string) => void
    readonly answered: (callId: CallId, at: number) => void
    /** The audio of an answered call has ended. Undefined if it is back. */
    readonly muted: (callId: CallId, at: number | undefined) => void
    /** The callee must not be called again. */
    readonly optedOut: (callId: CallId) => void
    /** The request to transfer its callee is being sent. */
    readonly handed: (callId: CallId, transfer: number) => void
    readonly undone: (callId: CallId, undone: Undone) => void
    readonly ended: (callId: CallId, end: AttemptEnd) => void
    /** Keeps, for the operator, a record whose content the database refuses. False if it could not be kept. */
    readonly refused: (callId: CallId, end: AttemptEnd) => boolean
    /** The database has everything about the call. */
    readonly settled: (callId: CallId) => void
    /** Notes a promise to a client, as text without spaces. It is kept for at least ten minutes. */
    readonly promised: (text: string) => void
    /** The promises of earlier processes, in order. */
    readonly promises: ReadonlyArray<string>
    /** The campaign calls that this process sent recently, and those named in earlier processes' journals. */
    readonly dialed: () => ReadonlyMap<CallId, DialedContact>
    /** All calls that this process sent recently. */
    readonly recent: () => ReadonlyArray<CallId>
    /** Whether an earlier process sent the call, according to its journal. */
    readonly sentBefore: (callId: CallId) => boolean
    /** The journals that are left of this engine's earlier processes. */
    readonly earlier: () => ReadonlySet<string>
    /** When the latest of the calls was settled that this process sent and has forgotten since. */
    readonly forgottenUntil: () => SteadyMillis
    /** What is known about an attempt that this or another process left behind. */
    readonly known: (callId: CallId, journal: string | undefined) => KnownCall
    /** Given all attempts that are not over, removes earlier journals that none of them needs. */
    readonly keepFor: FormerJournals["keepFor"]
    /** Why nothing can be sent; undefined while it can. */
    readonly failure: () => string | undefined
    /** Calls `wake` whenever the journal becomes writable again, until the returned function is called. */
    readonly watch: (wake: () => void) => () => void
  }
>()("runtime/journal/LocalJournal") {
  static readonly layer = Layer.effect(
    LocalJournal,
    Effect.gen(function* () {
      const { dataDir } = yield* Config
      const write = yield* JournalAppend
      const memory = yield* Memory
      const clock = yield* Clock.Clock
      const root = join(dataDir, "journal", yield* installation)
      const { former, id, refused, ...files } = yield* Effect.sync(() => openJournal(root, write))
      const own = new OwnJournal(files, clock, memory.millis, Effect.runForkWith(yield* Effect.context<never>()))

      own.probe()
      const repeat = (run: () => void, apart: Duration.Input) =>
        Effect.sync(run).pipe(Effect.delay(apart), Effect.forever, Effect.forkScoped)
      yield* repeat(() => own.tryAgain(), TRY_AGAIN)
      yield* repeat(() => own.tidy(), memory.tidyEvery)
      // Left in place: the next process reads it, and removes it once no attempt needs it.
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
        recent: () => own.recent.all(),
        sentBefore: (callId) => former.sent(callId),
        earlier: () => former.ids(),
        forgottenUntil: () => own.recent.forgottenUntil,
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
        promised: (text) => own.promised(text),
        promises: former.promises,
        refused: (callId, end) => refused.keep(callId, end),
        settled: (callId) => {
          former.settled(callId)
          own.settled(callId)
        },
        known: (callId, journal) => {
          const known = own.recent.known(callId, former.known(callId, journal))
          if (own.hasLeft(callId)) known.left = "left"
          else if (journal === id && !own.mayHaveForgotten(callId)) known.left = "never_left"
          return known
        },
        keepFor: (attempts) => former.keepFor(attempts),
        failure: () => own.failure,
        watch: (wake) => own.watch(wake)
      }
    })
  )
}

interface JournalFiles {
  readonly calls: Segments
  /** Ends of calls, kept separately because they are large and soon settled. */
  readonly ends: Segments
  readonly promises: Segments
}

/** The journal of this process. */
class OwnJournal {
  readonly #calls: Segments
  readonly #ends: Segments
  readonly #promises: Segments
  readonly #clock: Clock.Clock
  readonly #memoryMillis: number
  readonly #log: (entry: Effect.Effect<void>) => unknown
  /** Calls that must not be sent, with the time at which they were withheld. */
  readonly #withheld = new Map<string, number>()
  readonly #watchers = new Set<() => void>()
  /** The latest call that was settled so long ago that the journal no longer mentions it. */
  #forgotten = ""
  /** Another process has closed or removed the journal. */
  #isGone = false
  /** Why nothing can be sent; undefined while it can. */
  failure: string | undefined
  readonly recent = new RecentCalls()

  constructor(
    { calls, ends, promises }: JournalFiles,
    clock: Clock.Clock,
    memoryMillis: number,
    log: (entry: Effect.Effect<void>) => unknown
  ) {
    this.#calls = calls
    this.#ends = ends
    this.#promises = promises
    this.#clock = clock
    this.#memoryMillis = memoryMillis
    this.#log = log
  }

  left(callId: CallId, endpoint = "", contact?: DialedContact): boolean {
    if (this.failure !== undefined || this.#withheld.has(callId)) return false
    // An adapter from a package may have an endpoint name that would break the line.
    const where = /^[!-~]{1,300}$/.test(endpoint) ? endpoint : NO_ENDPOINT
    const whom = contact === undefined ? "" : ` ${contactText(contact)}`
    const line = `left ${callId} ${where} ${uptimeMillis()}${whom}`
    // The check before the write only warms up the one after it, which then takes 3 µs instead of 20: a process killed in that time leaves a
    // doubtful call.
    const hasLeft = this.#isOurs() && this.#written(() => this.#calls.write(callId, line)) && this.#isOurs()
    if (hasLeft) this.recent.left(callId, contact)
    return hasLeft
  }

  hasLeft(callId: CallId): boolean {
    return this.#calls.has(callId)
  }

  /** Call ids sort by when the calls began. */
  mayHaveForgotten(callId: CallId): boolean {
    return callId <= this.#forgotten
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

  promised(text: string): void {
    const [id, now] = [randomUUID(), this.#now()]
    this.#written(() => this.#promises.write(id, promiseText(this.#clock.currentTimeMillisUnsafe(), text)))
    this.#promises.settle(id, now)
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
    const before = now - this.#memoryMillis
    this.#forget(before)
    this.#ends.prune(now)
    this.#promises.prune(before)
    this.recent.forget(before)
    for (const [callId, at] of this.#withheld) if (at <= now - this.#memoryMillis * 10) this.#withheld.delete(callId)
  }

  /** That calls are forgotten is written before they are. */
  #forget(before: number): void {
    const old = this.#calls.old(before)
    if (old.length === 0) return
    for (const callId of old) if (callId > this.#forgotten) this.#forgotten = callId
    if (this.#written(() => this.#calls.remark(forgottenText(this.#forgotten)))) this.#calls.prune(before)
  }

  close(): void {
    for (const files of [this.#calls, this.#ends, this.#promises]) files.close()
  }

  /** Checked after the line has been written: a process that takes over the journal closes it first, and then reads it. */
  #isOurs(): boolean {
    if (this.#isGone || this.#calls.isOpen()) return !this.#isGone
    this.#isGone = true
    this.#failed("it was closed or removed, perhaps by another engine; this process has to be started again")
    return false
  }

  /** False if it failed. */
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
  const filesOf = (family: string) => new Segments(folder, family, header, write)
  return { calls: filesOf("calls"), ends: filesOf("ends"), former, id, promises: filesOf("promises"), refused: new RefusedRecords(root) }
}

/** A clock shared by all processes since the machine booted, and unaffected by setting the time of day. */
export const uptimeMillis = (): number => Number(process.hrtime.bigint() / 1_000_000n)

/** Only the error code: paths are of no use in the log. */
const codeOf = (error: unknown): string =>
  error instanceof Error ? ("code" in error && typeof error.code === "string" ? error.code : error.message) : String(error)
