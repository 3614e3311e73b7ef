/**
 * Tries out an agent with scripted callees, without audio and without waiting: time that a caller would spend waiting passes on a simulated
 * clock, and only the model takes real time. Nobody is called, nothing is stored, and tools give the script's answers.
 */
import { Clock, Duration, Effect, type Scope, Stream } from "effect"
import type { CalleeAct, CalleeScript, CalleeStep } from "#core/agent/regression/CalleeScript.ts"
import { chooseStep, neverDone } from "#core/agent/regression/chooseStep.ts"
import { describeStep, type Failure, failure, type Verdict, verdictOf } from "#core/agent/regression/Verdict.ts"
import { freshWalk, noted, spoken, type TranscriptLine, type Walk } from "#core/agent/regression/Walk.ts"
import type { ConversationPlan, ToolAnswer } from "#core/agent/conversation/ConversationState.ts"
import type { LanguageModel, ModelError, OpenLanguageModel } from "#core/model/LanguageModel.ts"
import { CallClock } from "./CallClock.ts"
import { type ConversationActor, type ConversationFact, type ConversationPorts, makeConversation } from "./ConversationActor.ts"
import { writtenLines } from "./writtenLines.ts"

/** How much the agent may say in total: searching more than this for words would take long. */
const mostCharacters = 100_000

interface Rehearsal {
  /** The time zone comes from the script. */
  readonly plan: Omit<ConversationPlan, "timeZone">
  readonly model: OpenLanguageModel
  readonly script: CalleeScript
  /** How long it may take in real time. */
  readonly limit: Duration.Duration
}

/** The conversation's results so far. */
class Account {
  readonly script: CalleeScript
  readonly failures: Array<Failure> = []
  readonly used = new Map<CalleeStep, number>()
  walk: Walk = freshWalk
  /** What the agent has said since the callee's last turn. */
  heard: Array<string> = []
  #characters = 0
  readonly #toolCalls = new Map<string, number>()

  constructor(script: CalleeScript) {
    this.script = script
  }

  tell(who: TranscriptLine["who"], text: string): void {
    this.walk = spoken(this.walk, who, text)
    if (who !== "agent") return
    this.heard.push(text)
    this.#characters += text.length
  }
  get hasTooMuch(): boolean {
    return this.#characters > mostCharacters
  }
  fail(...given: Parameters<typeof failure>): void {
    this.failures.push(failure(...given))
  }
  note(fact: ConversationFact): void {
    if (fact._tag === "Noted") this.walk = noted(this.walk, fact.note)
    if (fact._tag === "OptedOut") this.tell("event", "the callee must not be called again")
    if (fact._tag === "CallbackAgreed") this.tell("event", `a callback is agreed for ${fact.local}`)
  }
  answerOf(tool: string): ToolAnswer {
    const answers = this.script.tools.get(tool) ?? []
    const call = this.#toolCalls.get(tool) ?? 0
    this.#toolCalls.set(tool, call + 1)
    const answer = answers[Math.min(call, answers.length - 1)]
    if (answer !== undefined) return answer
    if (call === 0) this.fail("tools", `the agent called ${tool}, for which the script has no answer`, null, tool)
    return { _tag: "Failed", reason: "The script has no answer for this tool." }
  }
  verdict(): Verdict {
    return verdictOf(this.script, this.walk, this.failures)
  }
}

export const rehearse = Effect.fnUntraced(function* (rehearsal: Rehearsal): Effect.fn.Return<Verdict> {
  const account = new Account(rehearsal.script)
  const seconds = Duration.toSeconds(rehearsal.limit)
  yield* Effect.scoped(converse(rehearsal, account)).pipe(
    Effect.timeoutOrElse({
      duration: rehearsal.limit,
      orElse: () => Effect.sync(() => account.fail("run", `the conversation had not come to its end after ${seconds} s`))
    }),
    Effect.catchTag("ModelError", ({ reason }) =>
      Effect.sync(() => account.fail("run", `the language model could not be opened: ${reason}`, null, reason))
    )
  )
  return account.verdict()
})

const converse = Effect.fnUntraced(function* (
  { model, plan, script }: Rehearsal,
  account: Account
): Effect.fn.Return<void, ModelError, Scope.Scope> {
  const wall = yield* Clock.Clock
  const clock = new CallClock(script.startsAt ?? wall.currentTimeMillisUnsafe())
  const opened = yield* model
  const ports = portsOf(account, onTheWall(opened, wall), (line) => actor.tell({ _tag: "LineSpoken", line }))
  const made = makeConversation({ ...plan, timeZone: script.timeZone }, ports)
  const actor: ConversationActor = yield* Effect.provideService(made, Clock.Clock, clock)
  actor.tell({ _tag: "Started", context: script.context })
  const conclusion = yield* Effect.raceFirst(actor.conclusion, callee(account, actor, clock))
  account.walk = { ...account.walk, conclusion }
  for (const step of neverDone(script.callee, account.used))
    account.fail("callee", `the call ended before the callee ${describeStep(step)}`, describeStep(step))
})

const onTheWall = (opened: LanguageModel, wall: Clock.Clock): LanguageModel => ({
  provider: opened.provider,
  model: opened.model,
  answer: (request) => Stream.provideService(opened.answer(request), Clock.Clock, wall)
})

const portsOf = (account: Account, model: LanguageModel, isHeard: (line: number) => void): ConversationPorts => ({
  model,
  speaker: writtenLines((text) => account.tell("agent", text), isHeard),
  runTool: (_, tool) => Effect.sync(() => account.answerOf(tool)),
  sendDigits: (digits) =>
    Effect.sync(() => {
      account.tell("event", `the agent presses ${digits}`)
      return { _tag: "Sent" }
    }),
  transfer: () => Effect.succeed({ _tag: "Failed", reason: "Nobody is transferred in a test." }),
  write: (fact) => Effect.sync(() => account.note(fact)),
  hangUp: () => {}
})

/** Ends only with the conversation. */
const callee = Effect.fnUntraced(function* (account: Account, actor: ConversationActor, clock: CallClock) {
  while (true) {
    const { keys, nodeId, phase } = yield* actor.quiet
    // The agent has not begun, or waits for more keys.
    if (phase === "delayed" || (phase === "live" && keys !== "")) {
      clock.moveTo(clock.next ?? 0)
      continue
    }
    const node = account.walk.path.findLast(({ id }) => id === nodeId)
    const step = account.hasTooMuch ? "TooMuch" : chooseStep(account.script.callee, account.used, { node, heard: account.heard })
    if (step === "TooMuch") account.fail("run", `the agent has said more than ${mostCharacters} characters`)
    if (step === "NothingFits") {
      const heard = account.heard.join(" ")
      account.fail("callee", `the script has nothing for the callee to do at ${node?.name ?? nodeId} after '${heard}'`, null, heard)
    }
    if (typeof step !== "string") account.used.set(step, (account.used.get(step) ?? 0) + 1)
    account.heard = []
    yield* act(typeof step === "string" ? { _tag: "HangsUp" } : step.act, account, actor, clock)
  }
})

const act = Effect.fnUntraced(function* (done: CalleeAct, account: Account, actor: ConversationActor, clock: CallClock) {
  switch (done._tag) {
    case "Says":
      account.tell("callee", done.text)
      actor.tell({ _tag: "CalleeStarted" })
      return actor.tell({ _tag: "CalleeTurn", text: done.text })
    case "Presses":
      account.tell("callee", `[presses ${done.keys}]`)
      for (const digit of done.keys) actor.tell({ _tag: "KeyPressed", digit })
      return
    case "HangsUp":
      account.tell("event", "the callee hangs up")
      return actor.tell({ _tag: "CalleeHungUp" })
    case "Beeps":
      account.tell("event", "the machine beeps")
      return actor.tell({ _tag: "MessageMoment", canSpeak: true })
    case "IsSilent": {
      account.tell("event", `the callee is silent for ${done.seconds} s`)
      const until = clock.currentTimeMillisUnsafe() + done.seconds * 1000
      while (clock.currentTimeMillisUnsafe() < until) {
        clock.moveTo(until)
        yield* actor.quiet
      }
    }
  }
})
