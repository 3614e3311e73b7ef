/**
 * What conversations leave behind. A record is opened with each call that has a conversation; it takes facts and has them written at once:
 * variables, transcript, visited nodes, tool calls, tags and disposition so far. When the call's end is recorded, by whichever process,
 * `collect` returns all of that for the run, even if an earlier process wrote it. Only `collect` ever waits: for the database, and for the late
 * extraction of a call that an earlier process left behind.
 */
import { Clock, Context, Effect, Fiber, FiberMap, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { OptOuts } from "#core/contact/OptOuts.ts"
import type { CallId, OrganizationId, RunId } from "#core/Id.ts"
import type { CallFact } from "#core/conversation/ConversationEntry.ts"
import { ConversationRecord, withOptOut } from "#core/conversation/ConversationRecord.ts"
import { type ConversationReport, conversationReport } from "#core/conversation/conversationReport.ts"
import * as store from "#core/conversation/ConversationStore.ts"
import { LiveFeedback } from "#core/run/LiveFeedback.ts"
import { storableJson } from "#core/storable.ts"
import { persist } from "#runtime/postgres/persist.ts"
import { LocalJournal } from "#runtime/journal/LocalJournal.ts"
import { type ConversationMetrics, CurrentConversationMetrics } from "#runtime/metrics/ConversationMetrics.ts"
import { makeKeptFiles } from "#runtime/storage/keptFiles.ts"
import { type EntryWriter, makeEntryWriter } from "./EntryWriter.ts"
import { LateExtraction } from "./LateExtraction.ts"

export interface RecordedCall {
  readonly callId: CallId
  readonly organizationId: OrganizationId
  readonly runId: RunId
  /** As dialed: the number that is opted out if the callee asks for that. */
  readonly phoneNumber: string
  /** The callee's time zone. */
  readonly timeZone: string
  /** An earlier process has talked to the callee, and may have written entries. */
  readonly isContinued: boolean
  /** If false, nothing that is said is kept anywhere (`CallKeeping`). */
  readonly keepsTranscript: boolean
}

interface OpenRecord {
  /** In the order in which things happened. */
  readonly note: (fact: CallFact) => void
}

/** What goes into the run in addition to what the call's actor knows. */
export interface CollectedConversation extends ConversationReport {
  readonly transcriptKey: string | undefined
}

type LeftCall = Pick<RecordedCall, "callId" | "organizationId" | "runId" | "phoneNumber">
type CallOfRun = Pick<RecordedCall, "callId" | "organizationId" | "runId">

/** An ordinal that sorts after all existing entries. */
const afterAll = 2_000_000_000
/** The first ordinal of a process that continues a call at this time: after those of the processes before it. */
const continuedFrom = (now: number): number => 1_000_000_000 + (Math.floor(now / 1000) % 900_000_000)

export class ConversationRecords extends Context.Service<
  ConversationRecords,
  {
    /** Call once per call. Everything must have been written before the call's end is recorded. */
    readonly open: (call: RecordedCall) => OpenRecord
    /** Everything about the call, once the database has it; undefined if it had no conversation. May be repeated until `settled`. */
    readonly collect: (call: CallOfRun) => Effect.Effect<CollectedConversation | undefined>
    /**
     * The call of an earlier process has an actor again, but its conversation cannot go on: `collect` extracts what was still to be extracted. Of other
     * calls nothing is, because the engine records them at startup, before it dials.
     */
    readonly brokeOff: (callId: CallId) => void
    /** The run has everything, so it is forgotten here. */
    readonly settled: (callId: CallId) => void
    /**
     * According to its journal, the callee of a call left behind by an earlier process had opted out; the call's entries may have been lost with
     * that process.
     */
    readonly optedOut: (call: LeftCall) => Effect.Effect<void>
  }
>()("runtime/conversation/ConversationRecords") {
  static readonly layer = Layer.effect(
    ConversationRecords,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const optOuts = yield* OptOuts
      const metrics = yield* CurrentConversationMetrics
      const services: Services = {
        clock: yield* Clock.Clock,
        feedback: yield* LiveFeedback,
        local: yield* LocalJournal,
        metrics,
        writer: yield* makeEntryWriter(metrics)
      }
      const { keepTranscript } = yield* makeKeptFiles
      const complete = yield* LateExtraction
      /** What is known of earlier processes' calls after late extraction. */
      const completed = new Map<CallId, Pick<ConversationReport, "events" | "gathered">>()
      const brokenOff = new Set<CallId>()
      /** Calls that may have entries: those open here, and those of earlier processes. */
      const known = new Set(yield* Effect.orDie(store.calls(sql)))
      const open = new Set<CallId>()
      const running = yield* FiberMap.make<CallId>()
      const fork = yield* FiberMap.runtime(running)()
      const optOut = ({ organizationId, phoneNumber, runId }: LeftCall) =>
        // Nobody is called who calls from a browser.
        phoneNumber === "" ? Effect.void : persist(Effect.asVoid(optOuts.add(organizationId, [phoneNumber], { source: "call", runId })))
      const conclude = ({ callId, organizationId }: LeftCall) =>
        Effect.gen(function* () {
          const { gathered } = conversationReport(yield* store.read(sql, callId))
          const content = storableJson(withOptOut(gathered))
          yield* store.append(sql, [{ callId, ordinal: afterAll, organizationId, kind: "gathered", content }])
          known.add(callId)
        })
      const collect = Effect.fnUntraced(function* (call: CallOfRun) {
        const fiber = FiberMap.getUnsafe(running, call.callId)
        if (fiber._tag === "Some") yield* Fiber.await(fiber.value)
        yield* services.writer.written
        const entries = yield* Effect.orDie(store.read(sql, call.callId))
        if (entries.length === 0) return undefined
        const report = conversationReport(entries)
        const transcriptKey = report.transcript === "" ? undefined : yield* keepTranscript(call, report.transcript)
        if (!brokenOff.has(call.callId)) return { ...report, transcriptKey }
        const { events, gathered } = completed.get(call.callId) ?? (yield* complete(call, report))
        completed.set(call.callId, { events, gathered })
        return { ...report, events, gathered, transcriptKey }
      })
      return ConversationRecords.of({
        open: (call) => {
          known.add(call.callId)
          open.add(call.callId)
          metrics.live++
          return openRecord(services, call, { isOpen: () => open.has(call.callId), optOut: () => void fork(call.callId, optOut(call)) })
        },
        brokeOff: (callId) => void brokenOff.add(callId),
        collect: (call) => (known.has(call.callId) ? collect(call) : Effect.undefined),
        settled: (callId) => {
          known.delete(callId)
          brokenOff.delete(callId)
          completed.delete(callId)
          if (open.delete(callId)) metrics.live--
        },
        optedOut: (call) => Effect.andThen(persist(Effect.orDie(conclude(call))), optOut(call))
      })
    })
  ).pipe(Layer.provide(OptOuts.layer))
}

interface Services {
  readonly clock: Clock.Clock
  readonly feedback: LiveFeedback["Service"]
  readonly local: LocalJournal["Service"]
  readonly metrics: ConversationMetrics
  readonly writer: EntryWriter
}

const openRecord = (
  { clock, feedback, local, metrics, writer }: Services,
  call: RecordedCall,
  { isOpen, optOut }: { readonly isOpen: () => boolean; readonly optOut: () => void }
): OpenRecord => {
  const { callId, organizationId, runId } = call
  const record = new ConversationRecord(call)
  let ordinal = call.isContinued ? continuedFrom(clock.currentTimeMillisUnsafe()) : 0
  const take = (fact: CallFact): void => {
    count(metrics, fact)
    const entries = record.take(fact)
    for (const entry of entries) if (entry.kind === "event") feedback.publish(organizationId, runId, entry.content)
    const rows = entries.map(({ content, kind }) => ({ callId, ordinal: ordinal++, organizationId, kind, content: storableJson(content) }))
    // Entries added after the end has been recorded would be left over.
    if (isOpen()) writer.add(rows)
    if (fact._tag !== "OptedOut") return
    // To the local disk first: the next process dials nobody before it has read that. A call that has been recorded no longer belongs there.
    if (isOpen()) local.optedOut(callId)
    optOut()
  }
  return { note: take }
}

const count = (metrics: ConversationMetrics, fact: CallFact): void => {
  if (fact._tag === "Said" && fact.speaker === "user") metrics.turns++
  else if (fact._tag === "OptedOut") metrics.optOuts++
  else if (fact._tag === "CallbackAgreed") metrics.callbacks++
  else if (fact._tag === "Waited") metrics.waited(fact.stage, fact.processor, fact.millis / 1000)
}
