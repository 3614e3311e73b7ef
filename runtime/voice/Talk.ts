/**
 * Joins a call's conversation, which knows nothing of audio, to its line, which knows nothing of words. The callee's frames become turns and keys;
 * the conversation's lines become speech, and it is told how much of that was heard. Without a recognizer there are no turns: the agent says its
 * opening or leaves its message.
 */
import { Clock, Deferred, Effect, Exit, type Fiber, FiberSet, Option, Scope } from "effect"
import { expectedAt } from "#core/agent/conversation/Expectation.ts"
import { plannedOpening } from "#core/agent/conversation/Nodes.ts"
import type { Conclusion, ConversationEvent, ToolAnswer } from "#core/agent/conversation/ConversationState.ts"
import { makeDtmfTones } from "#core/audio/DtmfTones.ts"
import type { CallFact } from "#core/conversation/ConversationEntry.ts"
import { type LanguageModel, ModelError } from "#core/model/LanguageModel.ts"
import type { RecognizerEvent, SpeechToText } from "#core/model/SpeechToText.ts"
import type { HangupCause } from "#core/outcome/HangupCause.ts"
import type { BargeInRules } from "#core/voice/BargeIn.ts"
import type { EndOfTurn, Expectation } from "#core/model/EndOfTurn.ts"
import { endOfTurnRules } from "#core/voice/EndOfTurnRules.ts"
import { plainSpeech } from "#core/voice/PlainSpeech.ts"
import { makePressedKeys } from "#core/voice/PressedKeys.ts"
import { type ConversationActor, type ConversationPorts, makeConversation } from "#runtime/conversation/ConversationActor.ts"
import { Foresight } from "#runtime/conversation/Foresight.ts"
import type { AmdVerdict } from "./Amd.ts"
import type { CallVoice } from "./CallVoice.ts"
import { endReasons, hangupCauses } from "./endReasons.ts"
import type { FrameListener } from "./FrameListener.ts"
import { makeHearing } from "./Hearing.ts"
import { LineSpeaker } from "./LineSpeaker.ts"
import type { Moment } from "./MessageMoment.ts"
import type { Openings } from "./Openings.ts"
import type { Playout } from "./Playout.ts"
import { openedOnce } from "./openedOnce.ts"
import { sentencesOf } from "./Sentences.ts"
import { SpeechAhead } from "./SpeechAhead.ts"
import { TalkMeter } from "./TalkMeter.ts"
import { callVoiceOf, voicedBy } from "./TalkVoice.ts"
import { TurnAudio } from "./TurnAudio.ts"
import { makeTurnTaking, type TurnTaking } from "./TurnTaking.ts"
import type { Voice } from "./Voice.ts"
import type { CallVerbs, PlannedTalk, VoiceEvent, VoicePlan } from "./VoiceSession.ts"

/** Longer than a conversation waits for its last variables. */
const conclusionTimeout = "40 seconds"
/** The same when the node is stopping. */
const hurriedTimeout = "2 seconds"
/** How soon after the answer the callee should have heard something. */
const greetingDueMillis = 2000

interface TalkPorts {
  /** The pacer's clock. */
  readonly now: () => number
  readonly openings: Openings
  readonly verbs: CallVerbs
  readonly emit: (event: VoiceEvent) => void
}

export const makeTalk = Effect.fnUntraced(function* (plan: VoicePlan, ports: TalkPorts) {
  const scope = yield* Scope.make()
  const fork = yield* Scope.provide(FiberSet.makeRuntime<never, void>(), scope)
  return new Talk(plan, ports, { scope, fork, hurried: yield* Deferred.make<void>() })
})

interface Workshop {
  /** Outlives the call's audio until the conversation has concluded. */
  readonly scope: Scope.Closeable
  readonly fork: (work: Effect.Effect<void>) => Fiber.Fiber<void>
  readonly hurried: Deferred.Deferred<void>
}

export class Talk {
  readonly #planned: PlannedTalk
  readonly #plan: VoicePlan
  readonly #ports: TalkPorts
  readonly #workshop: Workshop
  /** Undefined if the agent cannot hear. */
  readonly #hearing: ReturnType<typeof makeHearing> | undefined
  readonly #model: ReturnType<typeof openedOnce>
  readonly #pressed = makePressedKeys()
  readonly #rules: { readonly [IsFree in "free" | "protected"]: BargeInRules }
  #playout: Playout | undefined
  #speaker: LineSpeaker | undefined
  #turns: TurnTaking | undefined
  #voice: Voice | undefined
  #actor: ConversationActor | undefined
  /** Set if the last thing understood was one of the expected answers. */
  #answer: string | undefined
  #isBeeping = false
  #end: ConversationEvent = { _tag: "CalleeHungUp" }
  #endOfTurn: EndOfTurn = endOfTurnRules
  /** Kept only if an end-of-turn model was chosen: the rules look at the text alone. */
  #turnAudio: TurnAudio | undefined
  readonly #meter: TalkMeter
  readonly #foresight: Foresight
  readonly #callVoice: CallVoice
  readonly #ahead: SpeechAhead
  /** The model, if it answers at once and a voice on this machine speaks: preparing what may never be heard must cost nothing. */
  #instant: LanguageModel | undefined
  /** Tells the current thought from those discarded before they began. */
  #thoughts = 0
  #expects: Expectation

  constructor(plan: VoicePlan, ports: TalkPorts, workshop: Workshop) {
    const planned = plan.conversation
    const { bargeIn, hearing, hintsAt, model, substitutes } = planned
    this.#planned = planned
    this.#plan = plan
    this.#ports = ports
    this.#workshop = workshop
    this.#rules = { free: { ...bargeIn, allowInterrupt: true }, protected: { ...bargeIn, allowInterrupt: false } }
    const hints = hintsAt(planned.plan.graph.start)
    const understood = (event: RecognizerEvent) => this.#understood(event)
    const deafened = ({ provider }: SpeechToText, { message }: ModelError) =>
      this.#note({ _tag: "Troubled", at: this.#epochNow(), error: `A recognizer failed: ${message}`, processor: provider })
    this.#hearing = hearing === undefined ? undefined : makeHearing([hearing, ...substitutes], hints, understood, deafened)
    this.#meter = this.#makeMeter()
    this.#foresight = new Foresight(workshop.fork)
    const { openings } = ports
    this.#callVoice = callVoiceOf({ plan, openings, voice: () => this.#voice })
    this.#ahead = new SpeechAhead(workshop.fork, (text, wanted) => openings.sentence(text, wanted, this.#callVoice.next, () => {}))
    this.#expects = expectedAt(planned.plan.graph.start)
    this.#model = openedOnce(
      Effect.map(model, (opened) => {
        if (opened.isFree === true && (plan.voice?.speech.ownsQueue ?? true)) this.#instant = opened
        return this.#meter.timed(this.#foresight.over(this.#meter.counted(opened)))
      }),
      workshop.scope
    )
  }

  /** The line's listeners, in the order in which they hear each frame. */
  readonly listeners = (playout: Playout): ReadonlyArray<FrameListener> => {
    const { now, openings } = this.#ports
    const { fork } = this.#workshop
    this.#playout = playout
    const voice = () => this.#voice
    const callVoice = this.#callVoice
    const talkVoice = voicedBy({ plan: this.#plan, openings, voice, callVoice, note: this.#note, meter: this.#meter, now })
    const begun = (at: number) => {
      talkVoice.begun(at)
      this.#foretell(undefined)
    }
    const speaker = new LineSpeaker({ playout, fork, tell: this.#tell, ...talkVoice, begun })
    this.#speaker = speaker
    if (this.#hearing === undefined) return [this.#toneListener()]
    const rules = () => (speaker.isInterruptible() ? this.#rules.free : this.#rules.protected)
    this.#turns = makeTurnTaking(
      { now, playout, rules, recognizer: this.#hearing },
      {
        judge: (text, from, judged) => this.#judge(text, from, judged),
        speculate: (text) => this.#thinkAhead(text),
        cancelSpeculation: () => this.#forget(),
        started: () => this.#tell({ _tag: "CalleeStarted" }),
        waits: () => this.#tell({ _tag: "CalleeWaits" }),
        abandoned: () => this.#tell({ _tag: "CalleeTurn", text: "" }),
        committed: (turn) => this.#committed(turn),
        interrupted: (played) => speaker.interrupted(played)
      }
    )
    return [this.#toneListener(), { hear: (frame) => this.#turnAudio?.hear(frame) }, this.#turns]
  }

  /** Who answers, as far as we or the carrier can tell. */
  readonly verdict = (verdict: AmdVerdict, isBeeping: boolean): void => {
    this.#isBeeping ||= isBeeping
    if (this.#voice !== undefined) this.#noteVerdict(this.#voice, verdict)
    this.#tell({ _tag: "MachineHeard", verdict })
  }

  #noteVerdict({ noted, openedAt }: Voice, verdict: AmdVerdict): void {
    if (verdict !== "machine") {
      noted.answeredBy ??= verdict
      return
    }
    noted.answeredBy = verdict
    // If a machine is detected before the greeting was due, no person was left in silence.
    if (noted.firstAudioMillis === undefined && this.#ports.now() - openedAt < greetingDueMillis) noted.wasToSpeak = false
  }

  readonly moment = (moment: Moment): void => this.#tell({ _tag: "MessageMoment", canSpeak: moment === "speak" })

  /** The line is open. The conversation begins once everything it needs is known. */
  begin(voice: Voice): Effect.Effect<void> {
    return Effect.gen({ self: this }, function* () {
      const { fork, scope } = this.#workshop
      this.#voice = voice
      const actor = yield* Scope.provide(makeConversation(this.#planned.plan, this.#conversationPorts(voice)), scope)
      this.#actor = actor
      if (this.#hearing !== undefined) this.#listen(this.#hearing)
      const { known, later, plan } = this.#planned
      const isToSpeak = plan.graph.start.delayMillis === 0
      // A fetch may take long.
      if (later !== undefined) voice.noted.wasToSpeak = isToSpeak
      const start = Effect.gen({ self: this }, function* () {
        const context = yield* later ?? Effect.succeed(known)
        const { greeting, recording } = plannedOpening({ plan, now: yield* Clock.currentTimeMillis }, context)
        voice.noted.wasToSpeak = isToSpeak && (recording !== undefined || greeting !== "")
        actor.tell({ _tag: "Started", context })
      })
      fork(start)
    })
  }

  /** Opens the services of an agent that can hear. */
  #listen({ run }: ReturnType<typeof makeHearing>): void {
    const { fork, scope } = this.#workshop
    fork(run)
    fork(Effect.ignore(this.#model.open))
    fork(
      Effect.matchEffect(Scope.provide(this.#planned.endOfTurn, scope), {
        onFailure: ({ message }) => Effect.logWarning("an end-of-turn model could not be opened: rules take its place", { message }),
        onSuccess: (opened) => Effect.sync(() => this.#judgeBy(opened))
      })
    )
  }

  /** The carrier has reported a key. `at` is in epoch milliseconds. */
  keyReported(key: string, at: number): void {
    this.#turns?.keyed()
    if (this.#pressed.reported(key, this.#ports.now())) this.#press(key, at)
  }

  /** Why the call has ended. */
  hungUp(cause: HangupCause): void {
    const reason = endReasons[cause]
    if (reason !== undefined) this.#end = { _tag: "EndRequested", reason }
  }

  /** There is no more time to wait for the last variables. */
  hurry(): void {
    Deferred.doneUnsafe(this.#workshop.hurried, Effect.void)
  }

  /** The call is over: lets the conversation conclude. */
  readonly finish: Effect.Effect<Pick<Conclusion, "isVoicemail" | "messageFate">> = Effect.gen({ self: this }, function* () {
    const { hurried, scope } = this.#workshop
    this.#speaker?.interrupted(this.#playout?.played())
    this.#tell(this.#end)
    const late = Effect.andThen(Deferred.await(hurried), Effect.as(Effect.sleep(hurriedTimeout), undefined))
    const known = this.#actor === undefined ? Effect.undefined : Effect.raceFirst(this.#actor.conclusion, late)
    const concluded = Option.getOrUndefined(yield* Effect.timeoutOption(known, conclusionTimeout))
    yield* Scope.close(scope, Exit.void)
    this.#meter.used()
    return { isVoicemail: concluded?.isVoicemail === true, messageFate: concluded?.messageFate }
  })

  readonly #tell = (event: ConversationEvent): void => this.#actor?.tell(event)

  readonly #note = (fact: CallFact): void => this.#ports.verbs.note(fact)

  #epochNow(): number {
    const now = this.#ports.now()
    return this.#voice?.epochOf(now) ?? now
  }

  #committed({ from, text, until }: { readonly from: number; readonly text: string; readonly until: number }): void {
    this.#meter.committed(until)
    if (this.#voice !== undefined) {
      const { epochOf } = this.#voice
      this.#note({ _tag: "Said", speaker: "user", text, at: epochOf(from), until: epochOf(until) })
    }
    this.#tell({ _tag: "CalleeTurn", text, waitedMillis: Math.max(0, this.#ports.now() - until) })
  }

  #makeMeter(): TalkMeter {
    const { now } = this.#ports
    const { model = "", provider = "none" } = this.#planned.hearing ?? {}
    return new TalkMeter({
      now,
      epochOf: (time) => this.#voice?.epochOf(time) ?? time,
      note: this.#note,
      services: {
        recognizer: { processor: provider, model },
        endOfTurn: () => ({ processor: this.#endOfTurn.provider, model: this.#endOfTurn.model })
      },
      heardSeconds: () => this.#hearing?.seconds() ?? 0,
      spoken: () => this.#callVoice.spoken
    })
  }

  #conversationPorts({ line }: Voice): ConversationPorts {
    const { emit, verbs } = this.#ports
    const quiet = Effect.suspend(() => this.#speaker?.quiet ?? Effect.void)
    return {
      model: this.#model.model,
      speaker: this.#speaker ?? mute,
      runTool: verbs.runTool,
      sendDigits: (digits) => Effect.andThen(quiet, verbs.sendDigits(digits)),
      transfer: (destination, timeoutSeconds) => Effect.andThen(quiet, this.#transfer(destination, timeoutSeconds)),
      write: (fact) => Effect.sync(() => this.#note(fact)),
      hangUp: (reason) => emit({ _tag: "EndWanted", cause: hangupCauses[reason] ?? "agent_hangup" }),
      entered: (node) => {
        this.#hearing?.hint(this.#planned.hintsAt(node))
        this.#expects = expectedAt(node)
      },
      awaitMoment: (message) => {
        // All of it, because it must not stop in the middle. Speech that is not cached would have to be made a second time.
        if (this.#plan.voice?.speech.isCacheable !== false) this.#ahead.make(sentencesOf(plainSpeech(message)), "soon")
        line.awaitMoment(this.#isBeeping)
      }
    }
  }

  /** The callee may have finished: the answer is started, but none of it is said or acted on until that is certain. */
  #thinkAhead(text: string): void {
    if (this.#instant !== undefined) return this.#foretell(text)
    const thought = ++this.#thoughts
    this.#actor?.foresee(text, (request) => {
      if (this.#thoughts === thought) this.#foresight.begin(request)
    })
  }

  /** Synthesizes what the agent may say next while the callee is not waiting for it yet. `text`: what they seem to have said. */
  #foretell(text: string | undefined): void {
    if (this.#instant === undefined) return
    const thought = ++this.#thoughts
    this.#actor?.foretell(this.#instant, text, (lines) => {
      if (this.#thoughts === thought) this.#ahead.make(lines, text === undefined ? "whenever" : "soon")
    })
  }

  #forget(): void {
    this.#thoughts++
    this.#foresight.drop()
  }

  #transfer(destination: string, timeoutSeconds: number): Effect.Effect<ToolAnswer> {
    return Effect.flatMap(this.#ports.verbs.transfer(destination, timeoutSeconds), (outcome) => {
      if (outcome !== "transferred") return Effect.succeed(outcome)
      this.#tell({ _tag: "CalleeTransferred" })
      return Effect.never
    })
  }

  /** Finds keys by their tones, because carriers may not report them. */
  #toneListener(): FrameListener {
    const tones = makeDtmfTones()
    return {
      hear: (frame) => {
        const key = tones.push(frame)
        if (key === undefined) return
        this.#turns?.keyed()
        if (this.#pressed.heard(key, this.#ports.now())) this.#press(key, this.#epochNow())
      }
    }
  }

  #press(key: string, at: number): void {
    if (this.#voice?.digits.press(key) === true) this.#note({ _tag: "Pressed", digit: key, at })
    this.#tell({ _tag: "KeyPressed", digit: key })
  }

  #understood(event: RecognizerEvent): void {
    if ((event._tag === "Final" || event._tag === "EndDeclared") && event.text !== "") this.#meter.understood()
    if (event._tag === "Final" && event.text !== "") this.#answer = event.isAnswer ? event.text.trim() : undefined
    this.#turns?.understood(event)
  }

  #judgeBy(opened: EndOfTurn): void {
    this.#endOfTurn = opened
    this.#turnAudio = opened === endOfTurnRules ? undefined : new TurnAudio()
  }

  /** A model that fails is not asked again in this call. */
  #withoutModel(model: EndOfTurn, { message }: ModelError): Effect.Effect<void> {
    if (this.#endOfTurn !== model) return Effect.void
    this.#judgeBy(endOfTurnRules)
    return Effect.logWarning("an end-of-turn model has failed: rules take its place", { message })
  }

  #judge(text: string, from: number, judged: (probability: number) => void): void {
    const { language } = this.#planned.hintsAt(this.#planned.plan.graph.start)
    const isAnswer = this.#answer !== undefined && text.endsWith(this.#answer)
    const audio = this.#turnAudio?.last(this.#ports.now() - from + beforeVoiceMillis) ?? unheard
    const pause = { text, isAnswer, audio, expects: this.#expects, language } as const
    const model = this.#endOfTurn
    const asked = Effect.suspend(() => model.probability(pause)).pipe(
      Effect.catchDefect((defect) => Effect.fail(faulty(defect))),
      Effect.catch((error) => Effect.andThen(this.#withoutModel(model, error), endOfTurnRules.probability(pause)))
    )
    this.#workshop.fork(Effect.ignore(Effect.map(asked, judged)))
  }
}

/** The exception may contain what the callee said: only its kind is reported. */
const faulty = (defect: unknown) =>
  new ModelError({ reason: "broken", isRetryable: false, message: `it threw a ${defect instanceof Error ? defect.name : typeof defect}` })
const unheard = new Int16Array(0)
/** A turn is detected this long after its first sound. */
const beforeVoiceMillis = 200
const mute: ConversationPorts["speaker"] = { say: () => {}, play: () => {}, stop: () => {} }
