/**
 * The live calls of this node: starts their actors, routes the events of all trunks to them, and ends them in order when the node stops. Calls
 * are not cluster entities: a restart of Postgres must not end a conversation.
 */
import { Cause, Clock, Context, Effect, type Exit, FiberSet, Layer, Queue, Schedule, Schema, Tracer } from "effect"
import { AgentVersions } from "#core/agent/AgentVersions.ts"
import { AgentServices } from "#core/model/AgentServices.ts"
import { ConversationPlans } from "#core/agent/conversation/ConversationPlans.ts"
import type { LeftAttempt, NewAttempt } from "#core/call/Attempt.ts"
import type { BrowserAttempt } from "#core/call/BrowserBeginning.ts"
import { AttemptStore } from "#core/call/AttemptStore.ts"
import { CallEvent, type CallLimits, type Over, type Step } from "#core/call/Call.ts"
import { dial, receive } from "#core/call/CallMachine.ts"
import { CallKeeping } from "#core/file/CallKeeping.ts"
import { CallId, type CampaignId } from "#core/Id.ts"
import { costIn } from "#core/provider/CallCost.ts"
import type { CallRef } from "#core/provider/CallRef.ts"
import * as SteadyTime from "#core/SteadyTime.ts"
import { Config } from "#runtime/config/config.ts"
import { Slots } from "#runtime/dispatch/Slots.ts"
import { Charge } from "#runtime/lock/Charge.ts"
import { LocalJournal } from "#runtime/journal/LocalJournal.ts"
import { type CallMetrics, CurrentCallMetrics } from "#runtime/metrics/CallMetrics.ts"
import type { CallOfNode } from "#runtime/trunk/CallsOfNode.ts"
import { type LiveTrunk, TrunkPool } from "#runtime/trunk/TrunkPool.ts"
import { CurrentTraces } from "#runtime/trace/Traces.ts"
import { MediaRoom } from "#runtime/voice/MediaRoom.ts"
import { type Bills, makeBills } from "./Bills.ts"
import { CallActor, type EndListener, type Recording } from "./CallActor.ts"
import { CallJournal } from "./CallJournal.ts"
import { CallNames } from "./CallNames.ts"
import { traceCall } from "./CallTrace.ts"
import { HeardOfFormerCall } from "./FormerCalls.ts"
import { deliver } from "./deliver.ts"
import { type Doubt, type Doubts, makeDoubts } from "./Doubts.ts"
import { needsAudio } from "./greeted.ts"
import { type LateCalls, makeLateCalls } from "./LateCalls.ts"
import type { CallWatcher, Dialing, LiveCall } from "./LiveCall.ts"
import { MediaSockets } from "./MediaSockets.ts"
import { noteEvent } from "./noteDown.ts"
import { planCall } from "./planCall.ts"
import { makeWithdrawals, type Withdrawals } from "./Withdrawals.ts"

const { DialingWithdrawn, EndAsked, Refused } = CallEvent.cases

/** How long the calls hung up by a stopping node may take to end. */
const HANGUP_MILLIS = 10_000
const HANGUP_AGAIN = "2 seconds"

const isCallId = Schema.is(CallId)

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
    /** Starts the actor of a call that has come to us. It holds its slot. */
    readonly receive: (attempt: BrowserAttempt, trunk: LiveTrunk, watcher: CallWatcher) => Effect.Effect<void>
    /** Starts the actor of a call that another process left behind. */
    readonly resume: (
      attempt: LeftAttempt,
      trunk: LiveTrunk,
      first: (limits: CallLimits) => Step,
      watcher: CallWatcher
    ) => Effect.Effect<void>
    /** The request of a call that another process left behind has certainly not left. */
    readonly neverLeft: (callId: CallId) => void
    /** The campaign may no longer dial: its calls still waiting in a carrier's queue are withdrawn from it. */
    readonly withdraw: (campaignId: CampaignId) => void
    /** Keeps the slot of an attempt that an earlier process wrote off. The slot has already been taken. */
    readonly doubt: (doubt: Omit<Doubt, "ringTimeoutSeconds">) => void
    /** The number of the campaign's calls that were written off but keep their slots because they may still appear. */
    readonly inDoubt: (campaignId: CampaignId) => number
    /** Every attempt that earlier processes left behind has its actor. */
    readonly recovered: () => void
    readonly live: () => number
    readonly has: (callId: string) => boolean
    readonly calls: () => ReadonlyArray<Pick<LiveCall, "attempt" | "ref">>
    /** Gives calls time to end, then hangs up the rest. */
    readonly drain: Effect.Effect<void>
    /** Undefined if the call has no actor on this node. */
    readonly find: (callId: CallId) => Pick<LiveCall, "attempt" | "isOver" | "ref" | "trunk"> | undefined
  }
>()("runtime/call/CallSupervisor") {
  static readonly layer = Layer.effect(
    CallSupervisor,
    Effect.gen(function* () {
      const { drainSeconds, recordings, ringTimeoutSeconds } = yield* Config
      const planner = {
        keeping: yield* CallKeeping,
        plans: yield* ConversationPlans,
        recordings,
        ringTimeoutSeconds,
        services: yield* AgentServices,
        versions: yield* AgentVersions
      }
      const traces = yield* CurrentTraces
      const node = yield* makeNode(drainSeconds)
      const { calls, clock, doubts, late } = node
      const listener = endListener(node, yield* CurrentCallMetrics)
      yield* routeEvents(node)

      return {
        start: Effect.fnUntraced(function* (attempt, trunk, dialing, watcher) {
          const { initialContext: context, phoneNumber } = attempt
          const origin = { claim: dialing.claim, isAdopted: false }
          const trace = traces && (yield* traceCall(traces, attempt, trunk.adapter.manifest.provider, origin))
          const call = yield* planCall(planner, attempt, refBeforeLeaving(attempt), trunk, { ...dialing, context, phoneNumber }, watcher)
          call.trace = trace
          trace?.claimed(origin)
          const at = Math.max(SteadyTime.nowOf(clock), dialing.departure.readyAt())
          yield* launch(node, listener, call, dial(call.limits, at))
          return call
        }),
        receive: Effect.fnUntraced(function* (attempt, trunk, watcher) {
          const ref = { ...refBeforeLeaving(attempt), sentAt: clock.currentTimeMillisUnsafe() }
          const call = yield* planCall(planner, attempt, ref, trunk, undefined, watcher)
          yield* launch(node, listener, call, receive(call.limits, SteadyTime.nowOf(clock)))
        }),
        resume: Effect.fnUntraced(function* (attempt, trunk, first, watcher) {
          const call = yield* planCall(planner, attempt, attempt.call, trunk, undefined, watcher)
          const origin = { claim: undefined, isAdopted: true }
          call.trace = traces && (yield* traceCall(traces, attempt, trunk.adapter.manifest.provider, origin))
          call.sentBeforeAt = SteadyTime.steadyPast(clock, call.ref.sentAt)
          trunk.trunk.adopt(call.ref)
          yield* launch(node, listener, call, first(call.limits))
          for (const event of late.missedBy(call)) trunk.hear(attempt.callId, event)
        }),
        neverLeft: (callId) => {
          calls.get(callId)?.tell(Refused.make({ at: SteadyTime.nowOf(clock), reason: "unreachable" }))
        },
        withdraw: (campaignId) => {
          for (const call of calls.values())
            if (call.limits.queues === true && call.attempt.campaign?.campaignId === campaignId) call.tell(DialingWithdrawn.make({}))
        },
        doubt: (doubt) => {
          doubts.hold({ ...doubt, ringTimeoutSeconds })
          // Its end may be reported, although the call was never seen.
          late.ended(doubt, false)
        },
        inDoubt: (campaignId) => {
          let count = 0
          for (const doubt of doubts.all()) if (doubt.campaignId === campaignId) count++
          return count
        },
        recovered: late.recovered,
        live: () => calls.size,
        drain: drain(node, drainSeconds),
        has: (callId) => calls.has(callId),
        calls: () => [...calls.values()],
        find: (callId) => calls.get(callId)
      }
    })
  )
}

const refBeforeLeaving = ({ callId, phoneNumber }: { readonly callId: CallId; readonly phoneNumber?: string }): CallRef => ({
  callId,
  endpoint: undefined,
  from: undefined,
  providerCallId: undefined,
  sentAt: 0,
  to: phoneNumber
})

/** This node's calls, and everything that keeps track of them. */
interface Node {
  readonly actor: CallActor["Service"]
  readonly calls: Map<string, LiveCall>
  readonly clock: Clock.Clock
  /** Calls that were written off and may still appear. */
  readonly doubts: Doubts
  readonly bills: Bills
  /** The calls' actors. */
  readonly fibers: FiberSet.FiberSet<unknown, never>
  /** Returns once another engine settles these calls. */
  readonly forsaken: Effect.Effect<void>
  /** Calls in progress that have no actor. */
  readonly late: LateCalls
  readonly media: MediaRoom["Service"]
  readonly names: CallNames["Service"]
  readonly releaseNumber: (callId: CallId) => void
  readonly sockets: MediaSockets["Service"]
  readonly slots: Slots["Service"]
  readonly withdrawals: Withdrawals
}

const makeNode = Effect.fnUntraced(function* (drainSeconds: number) {
  const store = yield* AttemptStore
  const clock = yield* Clock.Clock
  const fibers = yield* FiberSet.make<unknown, never>()
  const calls = new Map<string, LiveCall>()
  const late = yield* makeLateCalls({
    isFollowed: (callId) => calls.get(callId)?.isOver === false,
    inDoubt: (callId, configurationId) => {
      const doubt = doubts.get(callId)
      return doubt?.trunk.configurationId === configurationId ? doubt.ref : undefined
    },
    onGone: (callId) => doubts.end(callId)
  })
  const fork = yield* FiberSet.makeRuntime()
  const releaseNumber = (callId: CallId) => {
    fork(
      store.releaseNumber(callId).pipe(
        Effect.catchCause((cause) => Effect.logWarning("a number is released later", cause)),
        Effect.annotateLogs({ callId })
      )
    )
  }
  const doubts: Doubts = yield* makeDoubts(late.isAlive, releaseNumber)
  const node: Node = {
    actor: yield* CallActor,
    bills: yield* makeBills,
    calls,
    clock,
    doubts,
    fibers,
    forsaken: (yield* Charge).forsaken,
    late,
    media: yield* MediaRoom,
    names: yield* CallNames,
    releaseNumber,
    sockets: yield* MediaSockets,
    slots: yield* Slots,
    withdrawals: yield* makeWithdrawals
  }
  yield* Effect.addFinalizer(() => drain(node, drainSeconds))
  return node
})

/** When the node stops, calls get time to end by themselves; the rest are hung up and recorded. */
const drain = Effect.fnUntraced(function* ({ calls, clock, fibers, forsaken }: Node, drainSeconds: number) {
  if (calls.size === 0) return
  yield* Effect.logInfo("calls get time to end", { calls: calls.size, seconds: drainSeconds })
  yield* Effect.timeoutOption(Effect.raceFirst(FiberSet.awaitEmpty(fibers), forsaken), `${drainSeconds} seconds`)
  const ask = Effect.sync(() => {
    const end = EndAsked.make({ at: SteadyTime.nowOf(clock), cause: "originator_cancel" })
    for (const { mailbox } of calls.values()) Queue.offerUnsafe(mailbox, end)
  })
  // Repeated, because the provider may have been unreachable for a moment.
  const asking = Effect.repeat(ask, Schedule.spaced(HANGUP_AGAIN))
  yield* Effect.timeoutOption(Effect.raceFirst(FiberSet.awaitEmpty(fibers), asking), HANGUP_MILLIS)
})

/** Routes the events of all trunks to their calls. */
const routeEvents = Effect.fnUntraced(function* ({ bills, calls, clock, doubts, late, names }: Node) {
  const fork = yield* FiberSet.makeRuntime()
  const pool = yield* TrunkPool
  const local = yield* LocalJournal
  const journal = yield* CallJournal
  const heardOfFormer = yield* HeardOfFormerCall
  const live = function* () {
    yield* calls.values()
    yield* doubts.all()
  }
  pool.deliverTo({
    live,
    isOthers: (call, trunk, found) => isOthers(names, { call, live: live(), pool, trunk }, found),
    onEvent: (callId, event, source) => {
      const call = calls.get(callId)
      // Events about the call from another configuration are ignored.
      if (call !== undefined && call.trunk.configurationId !== source.configurationId) return
      const cost = costIn([event])
      if (cost !== undefined && call !== undefined) fork(bills.record(call.attempt, cost))
      if (call === undefined && isCallId(callId) && heardOfFormer(callId, source.configurationId, event)) return
      if (call === undefined || call.isOver) return late.heard(callId, event, source)
      if (event._tag === "Named") return journal.named(call, event.providerCallId)
      noteEvent(local, call, event, clock.currentTimeMillisUnsafe())
      deliver(call, event, clock)
    }
  })
})

interface Search {
  readonly call: CallRef
  readonly trunk: CallOfNode["trunk"]
  readonly live: Iterable<CallOfNode>
  readonly pool: TrunkPool["Service"]
}

/** If two calls to one number both lack a provider id, nobody can tell which of them was found. */
const isOthers = (names: CallNames["Service"], { call, live, pool, trunk }: Search, found: string): Effect.Effect<boolean> =>
  Effect.suspend(() => {
    const { rateKey: key } = trunk
    for (const { dialing, ref, trunk } of live) {
      const isNameless = ref.providerCallId === undefined && dialing === undefined
      if (isNameless && ref.callId !== call.callId && ref.to === call.to && trunk.rateKey === key) return Effect.succeed(true)
    }
    const sharing = pool.all().filter(({ rateKey }) => rateKey === key)
    const configurationIds = [...new Set([trunk, ...sharing].map(({ configurationId }) => configurationId))]
    return names.isOthers(call.callId, { configurationIds, key }, found)
  })

/** Starts the call's actor. Allocates as little as possible, because everything allocated here lives as long as the call. */
const launch = (node: Node, listener: EndListener, call: LiveCall, first: Step) => {
  const { callId, campaign } = call.attempt
  node.calls.set(callId, call)
  if (call.ref.providerCallId !== undefined) node.names.claim(callId, call.trunk.rateKey, call.ref.providerCallId)
  node.media.settle(callId, needsAudio(call))
  const life = Effect.onExit(node.actor.run(call, first, listener), (exit) => afterwards(node, call, exit))
  // Around the fork rather than around the life: the fiber starts with the annotations and need not restore anything.
  const begun = Effect.annotateLogs(FiberSet.run(node.fibers, life), {
    callId,
    ...(campaign === undefined ? {} : { campaignId: campaign.campaignId })
  })
  return call.trace === undefined ? begun : Effect.provideService(begun, Tracer.ParentSpan, call.trace.root)
}

const endListener = (node: Node, metrics: CallMetrics): EndListener => ({
  over: (call, how) => call.watcher.over?.(how, call),
  lineFree: (call, how) => {
    freeLine(node, call, how)
    call.watcher.lineFree?.(how)
  },
  greetingMissed: (call) => {
    metrics.greetingsMissed++
    call.watcher.greetingMissed?.()
  }
})

/** The line is free, as far as is known now. Called before and after the record is written. */
const freeLine = ({ clock, doubts, late, media, slots }: Node, call: LiveCall, how: Over) => {
  const { callId } = call.attempt
  if (how._tag === "Ended") late.ended(call, how.inferred === undefined && how.cause !== "trunk_lost")
  if (how._tag === "Ended" && how.inferred === "unseen") {
    const sentAt = call.sentAt ?? call.sentBeforeAt ?? SteadyTime.nowOf(clock)
    const campaignId = call.attempt.campaign?.campaignId
    const { limits, ref, trunk } = call
    doubts.hold({ campaignId, ref, ringTimeoutSeconds: limits.ringTimeoutSeconds, sentAt, trunk })
    // If the call appears, it is hung up, so it needs no audio.
    media.settle(callId, false)
    return
  }
  if (how._tag === "Void") late.voided(call)
  doubts.end(callId)
  slots.release(callId)
}

const afterwards = (node: Node, call: LiveCall, exit: Exit.Exit<Recording>) =>
  Effect.map(exit, (recording) => onRecorded(node, call, recording)).pipe(
    Effect.tapCause((cause) => (Cause.hasInterruptsOnly(cause) ? Effect.void : Effect.logError("a call's actor failed", cause))),
    Effect.ensuring(Effect.sync(() => forget(node, call))),
    Effect.ignore
  )

const onRecorded = (node: Node, call: LiveCall, { how, recorded }: Recording): void => {
  const { callId } = call.attempt
  // The call may have appeared and ended since the line was freed.
  if (how._tag === "Ended" && how.inferred === undefined) freeLine(node, call, how)
  if (how._tag === "Ended" && how.cause === "written_off" && !node.doubts.has(callId)) node.releaseNumber(callId)
  if (how._tag === "Ended" && how.answeredAt !== undefined && call.trunk.adapter.manifest.pricesRecords === true)
    node.bills.ended(call.ref, call.trunk)
  if (isWithdrawn(call, how) && call.attempt.campaign !== undefined) node.withdrawals.add(call.attempt.campaign.campaignId)
  call.watcher.recorded?.(how, recorded, call.attempt)
}

/** The carrier had the call, and its phone never rang because its campaign may no longer dial. */
const isWithdrawn = ({ noted, wasAdopted }: LiveCall, how: Over): boolean =>
  how._tag === "Void" && how.reason === "permit_lapsed" && (noted !== undefined || wasAdopted)

const forget = ({ calls, doubts, names, slots, sockets }: Node, call: LiveCall): void => {
  const { callId } = call.attempt
  calls.delete(callId)
  names.forget(callId)
  sockets.forget(callId)
  call.trunk.dismiss(callId)
  call.watcher.gone?.(call.attempt)
  call.trace?.gone()
  if (!doubts.has(callId)) slots.release(callId)
}
