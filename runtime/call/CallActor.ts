/**
 * One live call is one fiber: the mailbox is its only input, `transition` its only judgement. It records before it acts, so that after a
 * crash the attempts in Postgres tell which calls to look for. It never restarts: a call whose actor fails is hung up.
 */
import { Clock, Context, Deferred, Effect, Exit, Fiber, Layer, Queue } from "effect"
import { CallCommand, CallEvent, CallState, isOver, type Over, type Step } from "#core/call/Call.ts"
import { transition } from "#core/call/CallMachine.ts"
import type { HangupCause } from "#core/outcome/HangupCause.ts"
import { ProviderError, type Trunk } from "#core/provider/Adapter.ts"
import * as SteadyTime from "#core/SteadyTime.ts"
import { Deadlines } from "#runtime/dispatch/Deadlines.ts"
import { LocalJournal } from "#runtime/journal/LocalJournal.ts"
import { EngineLock } from "#runtime/lock/EngineLock.ts"
import { VoiceAgent } from "#runtime/voice/VoiceAgent.ts"
import { CurrentCallMetrics } from "#runtime/metrics/CallMetrics.ts"
import { CallJournal } from "./CallJournal.ts"
import type { Recorded } from "./Recorded.ts"
import { ContextFetcher } from "./ContextFetcher.ts"
import { PassDialPoint } from "./DialPoint.ts"
import { fetchOpening } from "./Fetching.ts"
import { isGreetingMissed, needsAudio } from "./greeted.ts"
import type { LiveCall } from "./LiveCall.ts"
import { notePlaced } from "./noteDown.ts"
import { eventOf, nameless, overdue, tellRefusal } from "./originateFailure.ts"
import { RecordPause } from "./RecordPause.ts"
import { endOf } from "./RunReport.ts"

const { Accepted, DeadlinePassed, EndAsked, Looked, MediaLost, Refused } = CallEvent.cases
const { Ended, Void } = CallState.cases

/** A request that is later than this after its moment does not leave at all. */
const LATEST_MILLIS = 10_000
/** How long before its moment an attempt is marked `sent`, unless it was claimed so. */
const MARK_AHEAD_MILLIS = 50
/** The precision of timers. */
const AT_ONCE_MILLIS = 0.01
/** For adapters without a timeout of their own. */
const ORIGINATE_TIMEOUT = "20 seconds"
const MEDIA_TIMEOUT = "10 seconds"
/** When a deadline that found the mailbox full is tried again. */
const CROWDED_MILLIS = 1000
/** A provider that has not answered a look within this counts as silent. */
const LOOK_TIMEOUT = "10 seconds"

/** Called at a call's end, before it has been recorded. */
export interface EndTold {
  /** First of all. */
  readonly over: (call: LiveCall, how: Over) => void
  /** Then, once the line is free; for a call that was never placed, once its contact is free as well. */
  readonly lineFree: (call: LiveCall, how: Over) => void
  /** The callee heard nothing of what was to be said to him. */
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
    readonly run: (call: LiveCall, first: Step, told: EndTold) => Effect.Effect<Recording>
  }
>()("runtime/call/CallActor") {
  static readonly layer = Layer.effect(
    CallActor,
    Effect.gen(function* () {
      const journal = yield* CallJournal
      const local = yield* LocalJournal
      const deadlines = yield* Deadlines
      const lock = yield* EngineLock
      const agent = yield* VoiceAgent
      const fetcher = yield* ContextFetcher
      const pass = yield* PassDialPoint
      const recordPause = yield* RecordPause
      const metrics = yield* CurrentCallMetrics
      const clock = yield* Clock.Clock
      const now = () => SteadyTime.nowOf(clock)
      const wallNow = () => clock.currentTimeMillisUnsafe()
      const tell = (call: LiveCall, event: CallEvent) => {
        Queue.offerUnsafe(call.mailbox, event)
      }

      const expire = (call: LiveCall): void => {
        if (Queue.offerUnsafe(call.mailbox, DeadlinePassed.make({ at: now() }))) return
        arm(call, CROWDED_MILLIS)
      }
      const arm = (call: LiveCall, afterMillis: number) => {
        call.deadline = deadlines.set(afterMillis, () => expire(call))
      }
      /** A request that has not left yet never will. False: it has. */
      const withdraw = (call: LiveCall) => {
        if (call.dialing === undefined) return false
        call.dialing.departure.giveBack()
        call.dialing = undefined
        tell(call, Refused.make({ at: now(), reason: "permit_lapsed" }))
        return true
      }

      const mark = ({ attempt, dialing }: LiveCall) =>
        dialing?.marked === true
          ? Effect.succeed(true)
          : journal
              .sent(attempt.callId, wallNow())
              .pipe(Effect.timeoutOrElse({ duration: LATEST_MILLIS, orElse: () => Effect.succeed(false) }))

      /** Waits until `aheadMillis` before the moment at which the call may leave; a missed moment has moved to a later one. False: too late. */
      const awaitMoment = Effect.fnUntraced(function* (call: LiveCall, latest: SteadyTime.SteadyMillis, aheadMillis: number) {
        while (call.dialing !== undefined) {
          const at = call.dialing.departure.readyAt()
          const early = at - aheadMillis - now()
          if (at > latest) return false
          if (early <= AT_ONCE_MILLIS) return true
          yield* Effect.sleep(early)
        }
        return false
      })

      const send = Effect.fnUntraced(function* (call: LiveCall, latest: SteadyTime.SteadyMillis) {
        const dialing = call.dialing
        if (dialing === undefined) return
        const { context, departure, freedAt, permit, phoneNumber } = dialing
        const { callId } = call.attempt
        const mayLeave = () =>
          call.dialing === dialing &&
          now() <= latest &&
          lock.isHeld() &&
          permit.holds() &&
          call.trunk.mayLeave(callId) &&
          // A number that was taken away meanwhile must not be shown any more.
          (dialing.from === undefined || call.trunk.callerIds().all.includes(dialing.from))
        // The permit is asked before the attempt is marked `sent` and again after, because marking takes time.
        if (!mayLeave() || !(yield* mark(call))) return void withdraw(call)
        if (!(yield* awaitMoment(call, latest, 0)) || !mayLeave()) return void withdraw(call)
        pass("marked sent")
        const from = dialing.from ?? call.trunk.callerIdFor(phoneNumber)
        let hasLeft = false
        /** Others have left while the connection was being made, and the rate has no room in this instant. */
        let isFull = false
        const leave = (endpoint?: string) => {
          call.endpoint = endpoint
          // Asked before already, for an adapter that was not known to ask itself.
          if (hasLeft) return lock.isHeld() && permit.holds() && local.left(callId, endpoint)
          // The journal comes last: what is not in it has not left, and what is in it may have.
          if (!mayLeave()) return false
          isFull = !departure.leave()
          if (isFull || !local.left(callId, endpoint)) return false
          hasLeft = true
          call.dialing = undefined
          call.trunk.left(callId)
          call.sentAt = now()
          metrics.originated++
          if (freedAt !== undefined) metrics.refillSeconds.observe(Math.max(0, now() - freedAt) / 1000)
          call.callerNumber = from
          call.fetching?.leave(from)
          return true
        }
        const request = { callId, context, from, leave, ringTimeoutSeconds: call.limits.ringTimeoutSeconds, to: phoneNumber }
        const place: ReturnType<Trunk["originate"]> = Effect.suspend(() => {
          isFull = false
          return call.trunk.originate(request)
        }).pipe(
          Effect.catch((error) =>
            isFull
              ? Effect.flatMap(awaitMoment(call, latest, 0), (isInTime) => (isInTime ? place : Effect.fail(error)))
              : Effect.fail(error)
          )
        )
        yield* place.pipe(
          Effect.timeoutOrElse({ duration: ORIGINATE_TIMEOUT, orElse: () => Effect.fail(overdue(call)) }),
          // The originate is over, so there is nothing left to withdraw, whether the adapter has asked or not.
          Effect.ensuring(
            Effect.sync(() => {
              call.dialing = undefined
              departure.giveBack()
            })
          ),
          Effect.tapError((error) => tellRefusal(error, nameless(error.detail, phoneNumber))),
          Effect.match({
            onFailure: (error) => {
              if (error._tag === "OriginateDoubtful") dialing.placed?.()
              tell(call, eventOf(call, error, nameless(error.detail, phoneNumber), now()))
            },
            onSuccess: () => {
              pass("accepted")
              notePlaced(local, call)
              call.trunk.reached(callId)
              dialing.placed?.()
              tell(call, Accepted.make({}))
            }
          })
        )
      })

      const originate = Effect.fnUntraced(function* (call: LiveCall) {
        const { dialing } = call
        if (dialing === undefined) return
        const latest = dialing.departure.readyAt() + LATEST_MILLIS
        yield* awaitMoment(call, latest, dialing.marked ? 0 : MARK_AHEAD_MILLIS)
        yield* call.trunk.originating.withPermits(1)(send(call, latest))
      })

      /** While the phone rings: numbers that are busy or invalid have nothing said to them. */
      const prepare = ({ fetching, voice }: LiveCall) =>
        fetching === undefined
          ? agent.prepare(voice)
          : Effect.flatMap(Deferred.await(fetching.opening), (opening) => agent.prepare({ ...voice, ...opening }))

      const beginOriginate = Effect.fnUntraced(function* (call: LiveCall) {
        const { fetching } = call
        yield* agent.warm(call.voice)
        if (fetching !== undefined)
          fetching.fiber = yield* Effect.forkChild(guarded(fetchOpening(fetching, fetcher)), { startImmediately: true })
        return yield* Effect.forkChild(guarded(originate(call)), { startImmediately: true })
      })

      const converse = Effect.fnUntraced(
        function* (call: LiveCall) {
          if (call.handover !== undefined) yield* Deferred.await(call.handover)
          const media = yield* call.trunk.trunk
            .openMedia(call.attempt.callId)
            .pipe(Effect.timeoutOrElse({ duration: MEDIA_TIMEOUT, orElse: () => Effect.fail(noMedia(call)) }))
          const session = yield* agent.attach(call.voice, media, (event) => {
            if (event._tag === "MachineDetected") call.isMachine = true
            if (event._tag === "MessageOver" || (event._tag === "MachineDetected" && call.voice.onMachine === "hangup"))
              tell(call, EndAsked.make({ at: now(), cause: "machine_detected" }))
            if (event._tag === "MediaClosed") tell(call, MediaLost.make({ at: now(), failed: false }))
          })
          for (const key of call.keys) session.dtmf(key, wallNow())
          call.session = session
          if (call.isMachine) session.machineDetected()
          yield* Effect.never
        },
        Effect.scoped,
        Effect.catch((error) => Effect.logWarning("no audio for a call", { detail: error.detail, operation: error.operation })),
        (conversation, call) =>
          Effect.andThen(
            conversation,
            Effect.sync(() => tell(call, MediaLost.make({ at: now(), failed: true })))
          )
      )

      const hangup = (call: LiveCall, cause: HangupCause) =>
        call.trunk.trunk
          .hangup(call.attempt.callId, cause)
          .pipe(Effect.catch((error) => Effect.logWarning("a call could not be hung up yet", { detail: error.detail })))

      const look = (call: LiveCall) =>
        call.trunk.trunk.lookup(call.attempt.callId).pipe(
          Effect.timeout(LOOK_TIMEOUT),
          Effect.catch(() => Effect.succeed("silent" as const)),
          Effect.tap((presence) =>
            Effect.sync(() => {
              if (presence !== "ringing" && presence !== "up") return
              notePlaced(local, call)
              call.trunk.heard(call.attempt.callId, { _tag: "Rang" })
            })
          ),
          Effect.map((presence) => tell(call, Looked.make({ at: now(), deaf: isDeaf(call), presence })))
        )

      const perform = Effect.fnUntraced(function* (call: LiveCall, command: CallCommand) {
        // Started immediately, so that a freed slot does not wait for a turn of the event loop.
        const fork = <A>(effect: Effect.Effect<A>) => Effect.forkChild(guarded(effect), { startImmediately: true })
        return yield* CallCommand.match(command, {
          AttachVoice: () => (needsAudio(call) ? fork(converse(call)) : Effect.void),
          Hangup: ({ cause }) => {
            call.fetching?.stop()
            return withdraw(call) ? Effect.void : fork(hangup(call, cause))
          },
          Look: () => fork(look(call)),
          Originate: () => beginOriginate(call),
          SetDeadline: ({ afterMillis }) =>
            Effect.sync(() => {
              call.deadline?.clear()
              arm(call, afterMillis)
            })
        })
      })

      /** The conversation does not wait for it, as the local journal has the answer already; the record of the end does. */
      const recordAnswer = ({ attempt, endpoint }: LiveCall, answeredAt: number) =>
        Effect.forkChild(
          Effect.andThen(
            journal.answered(attempt.callId, SteadyTime.wallOf(clock, answeredAt), endpoint),
            Effect.sync(() => pass("answer recorded"))
          ),
          { startImmediately: true }
        )

      const live = Effect.fnUntraced(function* (call: LiveCall, first: Step) {
        let { commands, state } = first
        let started: ReadonlyArray<Fiber.Fiber<unknown>> = []
        let recording: Fiber.Fiber<unknown> | undefined
        const { provider } = call.trunk.adapter.manifest
        while (!isOver(state)) {
          // Fibers that have ended must not stay in memory for as long as the call lasts.
          started = started.filter(isRunning)
          for (const command of commands) {
            const fiber = yield* perform(call, command)
            if (fiber !== undefined) started = [...started, fiber]
          }
          const event = yield* Queue.take(call.mailbox)
          const step = transition(state, event, call.limits)
          metrics.moved(provider, call.sentAt, state, step.state, now(), call.isMachine)
          if (step.state._tag === "Up" && state._tag !== "Up") {
            pass("answered")
            recording = yield* recordAnswer(call, step.state.answeredAt)
          }
          if (step.state._tag === "Ringing" && state._tag === "Dialing" && needsAudio(call)) {
            started = [...started, yield* Effect.forkChild(guarded(prepare(call)), { startImmediately: true })]
          }
          commands = step.commands
          state = step.state
        }
        call.deadline?.clear()
        call.fetching?.stop()
        return { recording, started, state }
      })

      /** An inferred end takes on what the provider has said since. Anything that comes later is not for the actor any more. */
      const lastWord = (call: LiveCall, inferred: typeof Ended.Type): typeof Ended.Type => {
        call.isOver = true
        let end = inferred
        while (Queue.sizeUnsafe(call.mailbox) > 0) {
          const said = Queue.takeUnsafe(call.mailbox)
          if (said === undefined || said._tag === "Failure") break
          const { state } = transition(end, said.value, call.limits)
          if (state._tag === "Ended") end = state
        }
        return end
      }

      /** In wall time, as it is recorded. */
      const inWallTime = (end: typeof Ended.Type): typeof Ended.Type => {
        const answeredAt = end.answeredAt === undefined ? {} : { answeredAt: SteadyTime.wallOf(clock, end.answeredAt) }
        return Ended.make({ ...end, ...answeredAt, endedAt: SteadyTime.wallOf(clock, end.endedAt) })
      }

      const reportOf = ({ session, voice }: LiveCall, { answeredAt }: CallState & { readonly _tag: "Ended" }) => {
        if (session !== undefined) return session.finish
        // It was answered under a process that has died since.
        return answeredAt === undefined ? Effect.undefined : Effect.map(agent.salvage(voice), (recordingKey) => ({ recordingKey }))
      }

      return {
        run: Effect.fnUntraced(
          function* (call, first, told) {
            const { recording, started, state } = yield* live(call, first)
            told.over(call, state)
            if (state._tag === "Void") {
              call.isOver = true
              yield* Fiber.interruptAll(started)
              const recorded = yield* journal.undone(call, Void.make({ ...state, at: SteadyTime.wallOf(clock, state.at) }))
              told.lineFree(call, state)
              return { how: state, recorded }
            }
            told.lineFree(call, state)
            // The next call that waits for the line comes first.
            yield* recordPause > 0 ? Effect.sleep(recordPause) : Effect.yieldNow
            pass("ended")
            const report = yield* reportOf(call, state)
            yield* Fiber.interruptAll(started)
            if (recording !== undefined) yield* Fiber.await(recording)
            const how = lastWord(call, state)
            const isMissed = isGreetingMissed(call, how, report)
            if (isMissed) told.greetingMissed(call)
            const recorded = yield* journal.ended(call.attempt, endOf(call, inWallTime(how), report, isMissed))
            pass("end recorded")
            return { how, recorded }
          },
          // A call never outlives its actor, whether the actor was interrupted or died.
          (actor, call) =>
            Effect.onExit(actor, (exit) => (Exit.isSuccess(exit) || withdraw(call) ? Effect.void : hangup(call, "internal_error")))
        )
      }
    })
  )
}

/** Its events are not being heard at the moment; what they would have said is found out once they are heard again. */
const isDeaf = ({ attempt, trunk }: LiveCall) => {
  const status = trunk.trunk.statusOf?.(attempt.callId) ?? trunk.status()
  return status._tag === "Connecting" || (status._tag === "Down" && status.reason === "unreachable")
}

const isRunning = (fiber: Fiber.Fiber<unknown>) => fiber.pollUnsafe() === undefined

const guarded = <A>(effect: Effect.Effect<A>) => Effect.tapCause(effect, (cause) => Effect.logError("a call's command failed", cause))

const noMedia = ({ trunk }: LiveCall) =>
  new ProviderError({ detail: "no audio in time", operation: "openMedia", provider: trunk.adapter.manifest.provider })
