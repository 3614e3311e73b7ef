/**
 * The live calls of this node: starts their actors, brings them the events of all trunks, and ends them in order when the node stops.
 * Calls are not cluster entities: a restart of Postgres must not end a conversation.
 */
import { Cause, Clock, Context, Deferred, Effect, type Exit, FiberSet, Layer, Queue, Schedule, Schema } from "effect"
import { maxCallDurationSeconds } from "#core/agent/AgentGraph.ts"
import { voicemailDetectionOf } from "#core/agent/VoicemailDetection.ts"
import { AgentVersions } from "#core/agent/AgentVersions.ts"
import type { AgentPart, Attempt, LeftAttempt, NewAttempt } from "#core/call/Attempt.ts"
import { AttemptStore } from "#core/call/AttemptStore.ts"
import { CallEvent, type CallLimits, type Over, type Step } from "#core/call/Call.ts"
import { dial } from "#core/call/CallMachine.ts"
import { HangupCause } from "#core/outcome/HangupCause.ts"
import { preCallFetchOf } from "#core/call/PreCallFetch.ts"
import type { TrunkEvent } from "#core/provider/Adapter.ts"
import { withKey } from "#core/call/Dtmf.ts"
import type { CallId, CampaignId } from "#core/Id.ts"
import * as SteadyTime from "#core/SteadyTime.ts"
import { Config } from "#runtime/config/config.ts"
import { LocalJournal } from "#runtime/journal/LocalJournal.ts"
import { Slots } from "#runtime/dispatch/Slots.ts"
import { type LiveTrunk, TrunkPool } from "#runtime/trunk/TrunkPool.ts"
import { MediaRoom } from "#runtime/voice/MediaRoom.ts"
import type { PlannedOpening, VoicePlan } from "#runtime/voice/VoiceSession.ts"
import { CurrentCallMetrics } from "#runtime/metrics/CallMetrics.ts"
import { CallActor, type EndListener, type Recording } from "./CallActor.ts"
import { type Doubt, type Doubts, makeDoubts } from "./Doubts.ts"
import { makeLateCalls } from "./LateCalls.ts"
import { Fetching } from "./Fetching.ts"
import { needsAudio } from "./greeted.ts"
import { type CallWatcher, type Dialing, LiveCall } from "./LiveCall.ts"
import { noteEvent } from "./noteDown.ts"
import { plannedOpening } from "./plannedOpening.ts"

const { Accepted, Answered, EndAsked, HungUp, Rang } = CallEvent.cases

/** More events than a provider has for one call. If it sends more all the same, the newest are dropped. */
const MAILBOX_CAPACITY = 64

export class CallSupervisor extends Context.Service<
  CallSupervisor,
  {
    /** Starts the actor of an attempt that holds its slot. */
    readonly start: (
      attempt: NewAttempt,
      trunk: LiveTrunk,
      dialing: Omit<Dialing, "context" | "phoneNumber">,
      watcher: CallWatcher
    ) => Effect.Effect<LiveCall>
    /** Starts the actor of a call that another process has left behind. */
    readonly resume: (
      attempt: LeftAttempt,
      trunk: LiveTrunk,
      first: (limits: CallLimits) => Step,
      watcher: CallWatcher
    ) => Effect.Effect<void>
    /** Keeps the slot of an attempt that a former process has written off. The slot has been taken already. */
    readonly doubt: (doubt: Omit<Doubt, "ringTimeoutSeconds">) => void
    /** Calls of the campaign that were written off and keep their slots, because they may still appear. */
    readonly inDoubt: (campaignId: CampaignId) => number
    /** Every attempt that former processes left behind has its actor. */
    readonly recovered: () => void
    readonly live: () => number
    readonly has: (callId: string) => boolean
  }
>()("runtime/call/CallSupervisor") {
  static readonly layer = Layer.effect(
    CallSupervisor,
    Effect.gen(function* () {
      const actor = yield* CallActor
      const store = yield* AttemptStore
      const versions = yield* AgentVersions
      const slots = yield* Slots
      const media = yield* MediaRoom
      const metrics = yield* CurrentCallMetrics
      const pool = yield* TrunkPool
      const local = yield* LocalJournal
      const { drainSeconds, recordings, ringTimeoutSeconds } = yield* Config
      const clock = yield* Clock.Clock
      const fibers = yield* FiberSet.make<unknown, never>()
      const calls = new Map<string, LiveCall>()

      // When the node stops, calls get their time to end by themselves, and are then hung up and recorded.
      yield* Effect.addFinalizer(() =>
        Effect.gen(function* () {
          if (calls.size === 0) return
          yield* Effect.logInfo("calls get time to end", { calls: calls.size, seconds: drainSeconds })
          yield* Effect.timeoutOption(FiberSet.awaitEmpty(fibers), `${drainSeconds} seconds`)
          const ask = Effect.sync(() => {
            const end = EndAsked.make({ at: SteadyTime.nowOf(clock), cause: "originator_cancel" })
            for (const { mailbox } of calls.values()) Queue.offerUnsafe(mailbox, end)
          })
          // Asked again, because the provider may have been out of reach for a moment.
          const asking = Effect.repeat(ask, Schedule.spaced(HANGUP_AGAIN))
          yield* Effect.timeoutOption(Effect.raceFirst(FiberSet.awaitEmpty(fibers), asking), HANGUP_MILLIS)
        })
      )

      const isFollowed = (callId: string) => calls.get(callId)?.isOver === false
      const late = yield* makeLateCalls({
        isFollowed,
        isInDoubt: (callId) => doubts.has(callId),
        onGone: (callId) => doubts.end(callId)
      })
      const releaseNumber = (callId: CallId) =>
        store.releaseNumber(callId).pipe(
          Effect.catchCause((cause) => Effect.logWarning("a number is released later", cause)),
          Effect.annotateLogs({ callId })
        )
      const fork = yield* FiberSet.makeRuntime()
      const doubts: Doubts = yield* makeDoubts(late.isAlive, (callId) => fork(releaseNumber(callId)))

      pool.deliverTo({
        live: function* () {
          yield* calls.values()
          yield* doubts.all()
        },
        onEvent: (callId, event, source) => {
          const call = calls.get(callId)
          if (call === undefined || call.isOver) return late.heard(callId, event, source)
          noteEvent(local, call, event, clock.currentTimeMillisUnsafe())
          deliver(call, event, clock)
        }
      })

      /** The line is free as far as is known now. Called before and after the record is written. */
      const freeLine = (call: LiveCall, how: Over) => {
        const { callId } = call.attempt
        if (how._tag === "Ended") late.ended(callId, how.inferred === undefined && how.cause !== "trunk_lost")
        if (how._tag === "Ended" && how.inferred === "unseen") {
          const sentAt = call.sentAt ?? call.sentBeforeAt ?? SteadyTime.nowOf(clock)
          const campaignId = call.attempt.campaign?.campaignId
          const attempt = { callId, campaignId }
          const { endpoint, limits, trunk } = call
          doubts.hold({ attempt, endpoint, ringTimeoutSeconds: limits.ringTimeoutSeconds, sentAt, trunk })
          // If it appears, it is hung up.
          media.settle(callId, false)
          return
        }
        doubts.end(callId)
        slots.release(callId)
      }

      const listener: EndListener = {
        over: (call, how) => call.watcher.over?.(how, call.attempt),
        lineFree: (call, how) => {
          freeLine(call, how)
          call.watcher.lineFree?.(how)
        },
        greetingMissed: (call) => {
          metrics.greetingsMissed++
          call.watcher.greetingMissed?.()
        }
      }

      const recorded = (call: LiveCall, { how, recorded }: Recording) => {
        const { callId } = call.attempt
        // The call may have appeared and ended since.
        if (how._tag === "Ended" && how.inferred === undefined) freeLine(call, how)
        if (how._tag === "Ended" && how.cause === "written_off" && !doubts.has(callId)) fork(releaseNumber(callId))
        call.watcher.recorded?.(how, recorded, call.attempt)
      }
      const forget = (call: LiveCall) => {
        const { callId } = call.attempt
        calls.delete(callId)
        call.trunk.dismiss(callId)
        call.watcher.gone?.(call.attempt)
        if (!doubts.has(callId)) slots.release(callId)
      }
      const afterwards = (call: LiveCall, exit: Exit.Exit<Recording>) =>
        Effect.map(exit, (recording) => recorded(call, recording)).pipe(
          Effect.tapCause((cause) => (Cause.hasInterruptsOnly(cause) ? Effect.void : Effect.logError("a call's actor failed", cause))),
          Effect.ensuring(Effect.sync(() => forget(call))),
          Effect.ignore
        )

      /** As little as possible is made for each call here: it stays for as long as the call. */
      const launch = (call: LiveCall, first: Step) => {
        const { callId, campaign } = call.attempt
        calls.set(callId, call)
        media.settle(callId, needsAudio(call))
        const life = Effect.onExit(actor.run(call, first, listener), (exit) => afterwards(call, exit))
        // Around the fork, not around the life: the fiber begins with the annotations, and need not put anything back.
        return Effect.annotateLogs(FiberSet.run(fibers, life), {
          callId,
          ...(campaign === undefined ? {} : { campaignId: campaign.campaignId })
        })
      }

      const callOf = Effect.fnUntraced(function* (
        attempt: Attempt & AgentPart,
        trunk: LiveTrunk,
        dialing: Dialing | undefined,
        watcher: CallWatcher
      ) {
        const { callId, campaign, organizationId, runId, telephonyConfigurationId } = attempt
        const { agentId, configurations, definition } = yield* versions.get(attempt.agentDefinitionId)
        // Written to the run at the end of the call.
        const known = { caller_number: numberShown(trunk, dialing), ...attempt.initialContext }
        // What a former process had fetched for the call was lost with it.
        const fetch = dialing === undefined ? undefined : preCallFetchOf(definition)
        const { action, isOn, message } = voicemailDetectionOf(configurations)
        const fetching =
          fetch === undefined || dialing === undefined
            ? undefined
            : new Fetching({ agentId, definition, fetch, known, message, organizationId, to: dialing.phoneNumber })
        const opening: PlannedOpening =
          fetching === undefined
            ? yield* Effect.annotateLogs(plannedOpening(definition, known, message), { callId })
            : { greeting: undefined, recording: undefined }
        const voice: VoicePlan = {
          ...opening,
          campaignId: campaign?.campaignId,
          detectMachine: isOn,
          later: fetching === undefined ? undefined : Deferred.await(fetching.opening),
          onMachine: action,
          organizationId,
          record: recordings,
          runId
        }
        const limits = { maxDurationSeconds: maxCallDurationSeconds(configurations), ringTimeoutSeconds }
        return new LiveCall(
          { callId, campaign, organizationId, runId, telephonyConfigurationId },
          trunk,
          limits,
          voice,
          yield* mailbox,
          dialing,
          fetching,
          watcher
        )
      })

      const start = Effect.fnUntraced(function* (
        attempt: NewAttempt,
        trunk: LiveTrunk,
        dialing: Omit<Dialing, "context" | "phoneNumber">,
        watcher: CallWatcher
      ) {
        const call = yield* callOf(
          attempt,
          trunk,
          { ...dialing, context: attempt.initialContext, phoneNumber: attempt.phoneNumber },
          watcher
        )
        const at = Math.max(SteadyTime.nowOf(clock), dialing.departure.readyAt())
        yield* launch(call, dial(call.limits, at))
        return call
      })

      return {
        start,
        resume: Effect.fnUntraced(function* (attempt, trunk, first, watcher) {
          const call = yield* callOf(attempt, trunk, undefined, watcher)
          call.sentBeforeAt = SteadyTime.steadyPast(clock, attempt.sentAt)
          call.endpoint = attempt.endpoint
          trunk.trunk.adopt(attempt.callId, attempt.endpoint)
          yield* launch(call, first(call.limits))
        }),
        doubt: (doubt) => doubts.hold({ ...doubt, ringTimeoutSeconds }),
        inDoubt: (campaignId) => {
          let count = 0
          for (const { attempt } of doubts.all()) if (attempt.campaignId === campaignId) count++
          return count
        },
        recovered: late.recovered,
        live: () => calls.size,
        has: (callId) => calls.has(callId)
      }
    })
  )
}

/** How long the calls that a stopping node hangs up may take to end. */
const HANGUP_MILLIS = 10_000
const HANGUP_AGAIN = "2 seconds"

const mailbox = Queue.make<CallEvent>({ capacity: MAILBOX_CAPACITY, strategy: "dropping" })

/** As far as it is known yet. Undefined for a call of a former process, whose attempt may name it. */
const numberShown = (trunk: LiveTrunk, dialing: Dialing | undefined): string | undefined =>
  dialing === undefined ? undefined : (dialing.from ?? trunk.callerIdFor(dialing.phoneNumber))

const toldAt = ({ at }: { readonly at?: number }) => (at === undefined ? {} : { toldAt: at })

/** An adapter from a package may be plain JavaScript, in which no compiler has checked the cause. */
const isHangupCause = Schema.is(HangupCause)

/** Providers repeat and reorder events: once it is ours, it stays so. */
const noteHandover = (call: LiveCall, isElsewhere: boolean, at: SteadyTime.SteadyMillis): void => {
  if (isElsewhere) {
    if (call.handedOverAt === undefined && call.session === undefined) call.handover ??= Deferred.makeUnsafe()
    return
  }
  if (call.handedOverAt !== undefined) return
  call.handedOverAt = at
  if (call.handover !== undefined) Deferred.doneUnsafe(call.handover, Effect.void)
}

const MAX_GATHERED = 32
const LONGEST_GATHERED = 256

/** As much of it as a run has room for. */
const gatheredWith = (before: Readonly<Record<string, string>> = {}, values: Readonly<Record<string, string>>) =>
  Object.fromEntries(
    Object.entries({ ...before, ...values })
      .slice(0, MAX_GATHERED)
      .map(([name, value]) => [name, String(value).slice(0, LONGEST_GATHERED)])
  )

const deliver = (call: LiveCall, event: TrunkEvent, clock: Clock.Clock) => {
  const at = SteadyTime.nowOf(clock)
  switch (event._tag) {
    case "Placed":
      call.tell(Accepted.make({}))
      return
    case "Rang":
      call.tell(Rang.make({}))
      return
    case "Answered":
      noteHandover(call, event.isElsewhere === true, at)
      call.tell(Answered.make({ at, ...toldAt(event) }))
      return
    case "HungUp":
      call.tell(HungUp.make({ at, cause: isHangupCause(event.cause) ? event.cause : "unknown", ...toldAt(event) }))
      return
    case "MachineDetected":
      if (call.voice.onMachine === "hangup") {
        call.tell(EndAsked.make({ at, cause: "machine_detected" }))
        return
      }
      if (call.voice.onMachine === "leave_message") call.isMachine = true
      call.session?.machineDetected()
      return
    case "Gathered":
      call.gathered = gatheredWith(call.gathered, event.values)
      return
    case "Dtmf": {
      const before = call.keys
      call.keys = withKey(before, event.digit)
      if (call.keys !== before) call.session?.dtmf(event.digit, clock.currentTimeMillisUnsafe())
      return
    }
  }
}
