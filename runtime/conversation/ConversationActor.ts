/**
 * Carries out a conversation: passes events, one after another, through the pure step function, and performs the resulting actions. Background
 * work (completions, tools, timers) reports back as an event, under the number that the step gave it.
 */
import { Cause, Clock, Deferred, Effect, FiberMap, Latch, Option, Queue, type Scope, Stream } from "effect"
import { step } from "#core/agent/conversation/Conversation.ts"
import type { ConversationFact } from "#core/agent/conversation/ConversationFact.ts"
import {
  type Conclusion,
  type ConversationAction,
  type ConversationEvent,
  type ConversationPlan,
  type EndReason,
  type ConversationState,
  fresh,
  type ToolAnswer
} from "#core/agent/conversation/ConversationState.ts"
import { conclusionOf, endFor } from "#core/agent/conversation/Ending.ts"
import type { ConversationNode } from "#core/agent/conversation/ConversationGraph.ts"
import type { HttpToolRequest } from "#core/agent/conversation/HttpTool.ts"
import type { RecordingName } from "#core/agent/RecordingName.ts"
import { type LanguageModel, ModelError, type ModelRequest } from "#core/model/LanguageModel.ts"
import { type ConversationMetrics, CurrentConversationMetrics } from "#runtime/metrics/ConversationMetrics.ts"
import type { Stand } from "./foretell.ts"

export type { ConversationFact }

/** Speaks the lines, one after another, and reports to the conversation what became of each. None of its functions waits. */
export interface Speaker {
  /** Says a piece of a line; the last piece may be empty. */
  readonly say: (line: number, text: string, how: { readonly isLast: boolean; readonly isInterruptible: boolean }) => void
  readonly play: (line: number, recording: RecordingName, how: { readonly isInterruptible: boolean }) => void
  /** Drops all lines so far. */
  readonly stop: () => void
}

export interface ConversationPorts {
  readonly model: LanguageModel
  readonly speaker: Speaker
  /** `tool`: the name under which the model called it. */
  readonly runTool: (request: HttpToolRequest, tool: string) => Effect.Effect<ToolAnswer>
  readonly sendDigits: (digits: string) => Effect.Effect<ToolAnswer>
  readonly transfer: (destination: string, timeoutSeconds: number) => Effect.Effect<ToolAnswer>
  /** Called in order, each once the previous one has ended. */
  readonly write: (fact: ConversationFact) => Effect.Effect<void>
  /** Ends the call; the conversation continues until it has concluded. */
  readonly hangUp: (reason: EndReason) => void
  /** The conversation has moved to this node, where the callee may say other things. */
  readonly entered?: (node: ConversationNode) => void
  /** See `AwaitMoment`. */
  readonly awaitMoment?: (message: string) => void
}

export interface ConversationActor {
  /** Events after the conclusion are ignored. */
  readonly tell: (event: ConversationEvent) => void
  /** Waits until nothing is left to be said or done before the callee speaks. For callees who do not talk over the agent. */
  readonly calleesTurn: Effect.Effect<void>
  /**
   * Waits until everything that was started has ended, including extractions: only the callee or a timer can take it further. Never returns once
   * the conversation is over.
   */
  readonly quiet: Effect.Effect<ConversationState>
  /** Available once everything before it has been written. */
  readonly conclusion: Effect.Effect<Conclusion>
  /** As of the last event. */
  readonly state: () => ConversationState
  /** Looks at the conversation as it is after all earlier events, which the next ones wait for. */
  readonly look: (at: Look["at"]) => void
}

const unfinished = new ModelError({ reason: "broken", isRetryable: true, message: "the answer has no end" })

/** A defect's cause is not logged: it may quote the conversation. */
const failureOf = (cause: Cause.Cause<ModelError>): ModelError =>
  cause.reasons.find(Cause.isFailReason)?.error ??
  new ModelError({ reason: "broken", isRetryable: false, message: "the model has a fault" })

type Tell = ConversationActor["tell"]

const answer = Effect.fnUntraced(function* (
  model: LanguageModel,
  { generation, request }: { readonly generation: number; readonly request: ModelRequest },
  { metrics, tell }: Pick<Workshop, "metrics" | "tell">
) {
  let isFinished = false
  // A model that throws before there is a stream fails like any other.
  const parts = Stream.runForEach(
    Stream.suspend(() => model.answer(request)),
    (part) =>
      Effect.sync(() => {
        if (isFinished) return
        if (part._tag === "Finished") {
          isFinished = true
          metrics.withheldCalls += part.withheld?.calls ?? 0
          metrics.withheldTokens += part.withheld?.tokens ?? 0
        }
        tell({ _tag: "ModelSaid", generation, part })
      })
  )
  const whole = Effect.andThen(
    parts,
    Effect.suspend(() => (isFinished ? Effect.void : Effect.fail(unfinished)))
  )
  yield* Effect.catchCause(whole, (cause): Effect.Effect<void> => {
    // Dropped: nobody is waiting for it any more.
    if (Cause.hasInterruptsOnly(cause)) return Effect.interrupt
    const { isRetryable, message, reason } = failureOf(cause)
    tell({ _tag: "ModelFailed", generation, isRetryable, why: message })
    return Effect.logWarning("language model failed", { reason, message, provider: model.provider, model: model.model })
  })
})

/** Writes facts one after another, in order, alongside the conversation. `then` runs after everything noted before it. */
const makeWriter = Effect.fnUntraced(function* (write: ConversationPorts["write"]) {
  const scope = yield* Effect.scope
  const waiting: Array<Effect.Effect<unknown>> = []
  let isWriting = false
  const writeAll = Effect.gen(function* () {
    for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) yield* next
    isWriting = false
  })
  const then = (work: Effect.Effect<unknown>): Effect.Effect<unknown> =>
    Effect.suspend(() => {
      waiting.push(work)
      if (isWriting) return Effect.void
      isWriting = true
      return Effect.forkIn(writeAll, scope, { startImmediately: true })
    })
  // Without the cause, which may quote what was to be written.
  const lost = Effect.logError("a part of a conversation could not be written")
  const note = (fact: ConversationFact) =>
    then(Effect.catchCause(write(fact), (cause) => (Cause.hasInterruptsOnly(cause) ? Effect.interrupt : lost)))
  return { note, then }
})

interface Workshop {
  readonly ports: ConversationPorts
  readonly background: FiberMap.FiberMap<string>
  readonly writer: Effect.Success<ReturnType<typeof makeWriter>>
  readonly conclusion: Deferred.Deferred<Conclusion>
  readonly metrics: ConversationMetrics
  readonly tell: Tell
}

const begin = ({ background }: Workshop, key: string, work: Effect.Effect<void>) =>
  Effect.asVoid(FiberMap.run(background, key, work, { startImmediately: true }))
/** Does not wait until it has stopped: the conversation continues at once. */
const drop = ({ background }: Workshop, key: string) =>
  Effect.sync(() => Option.map(FiberMap.getUnsafe(background, key), (fiber) => fiber.interruptUnsafe()))

const useTool = (workshop: Workshop, callId: string, work: Effect.Effect<ToolAnswer>) =>
  begin(
    workshop,
    `tool ${callId}`,
    work.pipe(
      Effect.catchCause((cause) =>
        Cause.hasInterruptsOnly(cause) ? Effect.interrupt : Effect.succeed<ToolAnswer>({ _tag: "Failed", reason: "The tool has a fault." })
      ),
      Effect.map((answered) => workshop.tell({ _tag: "ToolAnswered", callId, answer: answered }))
    )
  )

const perform = (workshop: Workshop, action: ConversationAction, now: number): Effect.Effect<unknown> => {
  const { metrics, ports, tell, writer } = workshop
  switch (action._tag) {
    case "Say":
      return Effect.sync(() => ports.speaker.say(action.line, action.text, action))
    case "Play":
      return Effect.sync(() => ports.speaker.play(action.line, action.recording, action))
    case "StopSpeaking":
      return Effect.sync(() => ports.speaker.stop())
    case "AskModel":
      return begin(workshop, `model ${action.generation}`, answer(ports.model, action, workshop))
    case "DropModel":
      return drop(workshop, `model ${action.generation}`)
    case "RunTool":
      return useTool(workshop, action.callId, ports.runTool(action.request, action.tool))
    case "SendDigits":
      return useTool(workshop, action.callId, ports.sendDigits(action.digits))
    case "Transfer":
      return useTool(workshop, action.callId, ports.transfer(action.destination, action.timeoutSeconds))
    case "SetTimer": {
      const fire = Effect.sync(() => tell({ _tag: "TimerFired", id: action.id }))
      return begin(workshop, `timer ${action.timer}`, Effect.delay(fire, action.afterMillis))
    }
    case "ClearTimer":
      return drop(workshop, `timer ${action.timer}`)
    case "AwaitMoment":
      return Effect.sync(() => ports.awaitMoment?.(action.message))
    case "Note":
      if (action.note._tag === "NodeEntered") ports.entered?.(action.note.node)
      if (action.note._tag === "ExtractionFailed") metrics.extractionsFailed++
      return writer.note({ _tag: "Noted", note: action.note, at: now })
    case "Remember":
      return writer.note({ _tag: "Remembered", gathered: action.gathered })
    case "OptOut":
      return writer.note({ _tag: "OptedOut" })
    case "AgreeCallback":
      return writer.note({ _tag: "CallbackAgreed", at: action.at, local: action.local })
    case "HangUp":
      return Effect.sync(() => ports.hangUp(action.reason))
    case "Conclude":
      return writer.then(Deferred.succeed(workshop.conclusion, action.conclusion))
  }
}

/** Waits for its turn among the events, and changes nothing. */
interface Look {
  readonly _tag: "Look"
  readonly at: (stand: Stand) => Effect.Effect<void>
}

const isCalleesTurn = ({ answer, batch, lines, phase }: ConversationState): boolean =>
  phase === "live" && answer === undefined && batch === undefined && lines.length === 0

const isQuiet = ({ answer, batch, extractions, lines, phase }: ConversationState): boolean =>
  phase !== "over" && answer === undefined && batch === undefined && lines.length === 0 && extractions.length === 0

/** Ends with the conclusion, or with the scope. `from`: the state of a quiet conversation to continue. */
export const makeConversation = Effect.fnUntraced(function* (
  plan: ConversationPlan,
  ports: ConversationPorts,
  from?: ConversationState
): Effect.fn.Return<ConversationActor, never, Scope.Scope> {
  const mailbox = yield* Queue.unbounded<ConversationEvent | Look>()
  const calleesTurn = Latch.makeUnsafe()
  const quiet = Latch.makeUnsafe()
  const tell: Tell = (event) => {
    calleesTurn.closeUnsafe()
    quiet.closeUnsafe()
    Queue.offerUnsafe(mailbox, event)
  }
  const conclusion = yield* Deferred.make<Conclusion>()
  const background = yield* FiberMap.make<string>()
  const metrics = yield* CurrentConversationMetrics
  const workshop: Workshop = { ports, background, writer: yield* makeWriter(ports.write), conclusion, metrics, tell }
  let state = from ?? fresh(plan)
  const openLatches = Effect.sync(() => {
    if (Queue.sizeUnsafe(mailbox) > 0) return
    if (isCalleesTurn(state)) calleesTurn.openUnsafe()
    if (isQuiet(state)) quiet.openUnsafe()
  })
  const converse = Effect.gen(function* () {
    while (state.phase !== "over") {
      const event = yield* Queue.take(mailbox)
      const now = yield* Clock.currentTimeMillis
      if (event._tag === "Look") yield* event.at({ plan, state, now })
      else {
        const moved = step(plan, state, event, now)
        state = moved.state
        yield* Effect.forEach(moved.actions, (action) => perform(workshop, action, now), { discard: true })
      }
      yield* workshop.writer.then(openLatches)
    }
    yield* FiberMap.clear(background)
    yield* Queue.shutdown(mailbox)
  })
  // Otherwise nobody would ever speak again, or hang up. Logged without the cause, which may quote the conversation.
  const failed = Effect.gen(function* () {
    yield* Effect.logError("a conversation failed")
    const reason = "pipeline_error"
    ports.hangUp(reason)
    const concluded = conclusionOf({ ...state, end: endFor(reason) }, plan)
    yield* workshop.writer.note({ _tag: "Remembered", gathered: concluded.gathered })
    yield* workshop.writer.then(Deferred.succeed(conclusion, concluded))
  })
  const unlessStopped = Effect.catchCause(converse, (cause) => (Cause.hasInterruptsOnly(cause) ? Effect.interrupt : failed))
  yield* Effect.forkScoped(unlessStopped, { startImmediately: true })
  return {
    tell,
    calleesTurn: calleesTurn.await,
    quiet: Effect.map(quiet.await, () => state),
    conclusion: Deferred.await(conclusion),
    state: () => state,
    look: (at) => void Queue.offerUnsafe(mailbox, { _tag: "Look", at })
  }
})
