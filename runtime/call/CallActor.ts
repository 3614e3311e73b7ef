/**
 * One live call is one fiber: the mailbox is its only input, and only `transition` decides. It records before it acts, so that after a crash the
 * attempts in Postgres tell which calls to look for. It never restarts: a call whose actor fails is hung up.
 */
import { Context, Effect, Exit, Fiber, Layer, Queue } from "effect"
import { type CallCommand, CallEvent, type CallState, isOver, type Over, type Step } from "#core/call/Call.ts"
import { transition } from "#core/call/CallMachine.ts"
import type { HangupCause } from "#core/outcome/HangupCause.ts"
import * as SteadyTime from "#core/SteadyTime.ts"
import { awaitReport, endedInWallTime, lastWord, voiceReport, voidInWallTime } from "./callEnd.ts"
import { type CallServices, callServices } from "./CallServices.ts"
import { converse, prepareHearing, prepareVoice } from "./converse.ts"
import { fetchContext } from "./Fetching.ts"
import { isGreetingMissed, needsAudio } from "./greeted.ts"
import type { LiveCall } from "./LiveCall.ts"
import { checkEnd, look } from "./looks.ts"
import { originate, withdraw } from "./originate.ts"
import type { Recorded } from "./Recorded.ts"
import { endOf } from "./RunReport.ts"
import { transfer } from "./transfer.ts"

const { DeadlinePassed } = CallEvent.cases

/** When to retry a deadline that found the mailbox full. */
const CROWDED_MILLIS = 1000

/** Called when a call ends, before the end has been recorded. */
export interface EndListener {
  /** Called first. */
  readonly over: (call: LiveCall, how: Over) => void
  /** Called once the line is free; for a call that was never placed, once its contact is free as well. */
  readonly lineFree: (call: LiveCall, how: Over) => void
  /** The callee heard nothing of the greeting or message intended for them. */
  readonly greetingMissed: (call: LiveCall) => void
}

export interface Recording {
  readonly how: Over
  readonly recorded: Recorded
}

export class CallActor extends Context.Service<
  CallActor,
  {
    /** Lives as long as the call. */
    readonly run: (call: LiveCall, first: Step, listener: EndListener) => Effect.Effect<Recording>
  }
>()("runtime/call/CallActor") {
  static readonly layer = Layer.effect(
    CallActor,
    Effect.map(callServices, (services) => ({ run: (call, first, listener) => run(services, call, first, listener) }))
  )
}

/** A call's whole life, from its first command until its end is recorded. */
const run = Effect.fnUntraced(
  function* (services: CallServices, call: LiveCall, first: Step, listener: EndListener) {
    const { clock, journal, pass, recordPauseMillis } = services
    const { answerRecord, started, state } = yield* live(services, call, first)
    call.trace?.over(state, call.isMachine)
    listener.over(call, state)
    if (state._tag === "Void") {
      call.isOver = true
      yield* Fiber.interruptAll(started)
      const recorded = yield* journal.undone(call, voidInWallTime(clock, state))
      listener.lineFree(call, state)
      return { how: state, recorded }
    }
    listener.lineFree(call, state)
    listenNoMore(call)
    // The next call waiting for the line comes first.
    yield* recordPauseMillis > 0 ? Effect.sleep(recordPauseMillis) : Effect.yieldNow
    pass("ended")
    const report = yield* voiceReport(services, call, state)
    const reported = yield* awaitReport(call, state, clock)
    yield* Fiber.interruptAll(started)
    if (answerRecord !== undefined) yield* Fiber.await(answerRecord)
    const how = lastWord(call, reported)
    const isMissed = isGreetingMissed(call, how, report)
    if (isMissed) listener.greetingMissed(call)
    const recorded = yield* journal.ended(call.attempt, endOf(call, endedInWallTime(clock, how), report, isMissed))
    pass("end recorded")
    return { how, recorded }
  },
  // A call never outlives its actor, whether the actor was interrupted or died.
  (actor, services, call) =>
    Effect.onExit(actor, (exit) => (Exit.isSuccess(exit) || withdraw(services, call) ? Effect.void : hangup(call, "internal_error")))
)

/** Carries out commands and waits for events until the call is over. */
const live = Effect.fnUntraced(function* (services: CallServices, call: LiveCall, first: Step) {
  const { clock, metrics, pass } = services
  let { commands, state } = first
  let started: ReadonlyArray<Fiber.Fiber<unknown>> = []
  let answerRecord: Fiber.Fiber<unknown> | undefined
  const { provider } = call.trunk.adapter.manifest
  const prepare = Effect.fnUntraced(function* () {
    const listening = yield* fork(prepareHearing(services, call))
    if (isRunning(listening)) call.listening = listening
    started = [...started, listening, yield* fork(prepareVoice(services, call))]
  })
  // The phone of a call that another process left behind may ring already.
  if (state._tag === "Ringing" && needsAudio(call)) yield* prepare()
  while (!isOver(state)) {
    // Finished fibers must not stay in memory for the rest of the call.
    started = started.filter(isRunning)
    for (const command of commands) {
      const fiber = yield* perform(services, call, command)
      if (fiber !== undefined) started = [...started, fiber]
    }
    const event = yield* Queue.take(call.mailbox)
    const step = transition(state, event, call.limits)
    metrics.moved(provider, call.sentAt, state, step.state, SteadyTime.nowOf(clock), call.isMachine)
    // This is where a call is first seen answered: every other answered state comes later.
    if (step.state._tag === "Up" && (state._tag === "Dialing" || state._tag === "Ringing")) {
      pass("answered")
      call.trace?.answered()
      answerRecord = yield* recordAnswer(services, call, step.state.answeredAt)
    }
    if (event._tag === "TransferAsked" || state._tag === "Transferring") tellOfTransfer(call, step.state)
    if (state._tag === "Transferred" && step.state._tag === "Up") backFromOther(services, call)
    if (step.state._tag === "Ringing" && state._tag === "Dialing" && needsAudio(call)) yield* prepare()
    if (step.state._tag === "Closing" || step.state._tag === "Held") listenNoMore(call)
    commands = step.commands
    state = step.state
  }
  call.deadline?.clear()
  call.fetching?.stop()
  return { answerRecord, started, state }
})

/** If nobody has answered, closes the recognizer, whose service then has room for another call. */
const listenNoMore = (call: LiveCall): void => {
  if (call.session === undefined) call.listening?.interruptUnsafe()
  call.listening = undefined
}

const tellOfTransfer = (call: LiveCall, { _tag }: CallState): void => {
  if (_tag === "Transferring") return
  call.handedOver?.(_tag === "Transferred")
  call.handedOver = undefined
}

/** The conversation ended when the callee was transferred, so nobody would talk to them: end the call. */
const backFromOther = ({ clock }: CallServices, call: LiveCall): void => {
  call.tell(CallEvent.cases.EndAsked.make({ at: SteadyTime.nowOf(clock), cause: "agent_hangup" }))
}

/** Returns the fiber of the work that was started, if the command starts any. */
const perform = (services: CallServices, call: LiveCall, command: CallCommand): Effect.Effect<Fiber.Fiber<unknown> | undefined> => {
  switch (command._tag) {
    case "AttachVoice":
      return needsAudio(call) ? fork(converse(services, call)) : Effect.undefined
    case "CheckEnd":
      return fork(checkEnd(services, call))
    case "Hangup":
      call.fetching?.stop()
      call.transfer = undefined
      return withdraw(services, call) ? Effect.undefined : fork(hangup(call, command.cause))
    case "Look":
      return fork(look(services, call))
    case "Originate":
      return beginOriginate(services, call)
    case "SetDeadline":
      call.deadline?.clear()
      arm(services, call, command.afterMillis)
      return Effect.undefined
    case "Transfer":
      return fork(transfer(services, call, command))
  }
}

const beginOriginate = Effect.fnUntraced(function* (services: CallServices, call: LiveCall) {
  const { fetching } = call
  yield* services.agent.warm(call.voice)
  if (fetching !== undefined) fetching.fiber = yield* fork(fetchContext(fetching, services.fetcher))
  return yield* fork(originate(services, call))
})

const hangup = (call: LiveCall, cause: HangupCause) =>
  call.trunk.trunk
    .hangup(call.ref, cause)
    .pipe(Effect.catch((error) => Effect.logWarning("a call could not be hung up yet", { detail: error.detail })))

const arm = (services: CallServices, call: LiveCall, afterMillis: number): void => {
  call.deadline = services.deadlines.set(afterMillis, () => {
    if (call.tell(DeadlinePassed.make({ at: SteadyTime.nowOf(services.clock) }))) return
    arm(services, call, CROWDED_MILLIS)
  })
}

/** The conversation does not wait for this, because the local journal already has the answer; recording the end does wait for it. */
const recordAnswer = ({ clock, journal, pass }: CallServices, { attempt, ref: { endpoint } }: LiveCall, answeredAt: number) =>
  Effect.forkChild(
    Effect.andThen(
      journal.answered(attempt, SteadyTime.wallOf(clock, answeredAt), endpoint),
      Effect.sync(() => pass("answer recorded"))
    ),
    { startImmediately: true }
  )

/** Starts the work immediately, so that a freed slot does not wait for a turn of the event loop. */
const fork = <A>(work: Effect.Effect<A>) =>
  Effect.forkChild(
    Effect.tapCause(work, (cause) => Effect.logError("a call's command failed", cause)),
    { startImmediately: true }
  )

const isRunning = (fiber: Fiber.Fiber<unknown>) => fiber.pollUnsafe() === undefined
