/**
 * Joins a call's conversation, which knows nothing of audio, to its line, which knows nothing of words. The callee's frames become turns and keys;
 * the conversation's lines become speech, and it is told how much of that was heard. Without a recognizer there are no turns: the agent says its
 * opening or leaves its message.
 *
 * A turn, from the callee's first frame to the agent's:
 *     VoiceLine     a frame, each 20 ms
 *     TurnTaking    finds the voice in it, follows the turn (`core/voice/Turn.ts`), and writes it to the recognizer
 *     Hearing       the recognizer, whose texts come back
 *     TurnTaking    at a pause, TurnJudge tells whether that may be all: then an answer is begun, and if it was all, the turn is committed
 *     Talk          notes it, and tells the conversation (`ConversationActor`), which asks CallModel
 *     LineSpeaker   speaks the lines of the answer, one after another
 */
import { Clock, Deferred, Effect, Exit, type Fiber, FiberSet, Option, Scope } from "effect"
import { expectedAt } from "#core/agent/conversation/Expectation.ts"
import { plannedOpening } from "#core/agent/conversation/Nodes.ts"
import type { Conclusion, ConversationEvent, ToolAnswer } from "#core/agent/conversation/ConversationState.ts"
import { makeDtmfTones } from "#core/audio/DtmfTones.ts"
import type { CallFact } from "#core/conversation/ConversationEntry.ts"
import type { LanguageModel, ModelError } from "#core/model/LanguageModel.ts"
import type { RecognizerEvent, SpeechToText } from "#core/model/SpeechToText.ts"
import type { HangupCause } from "#core/outcome/HangupCause.ts"
import type { BargeInRules } from "#core/voice/BargeIn.ts"
import { plainSpeech } from "#core/voice/PlainSpeech.ts"
import { makePressedKeys } from "#core/voice/PressedKeys.ts"
import { type ConversationActor, type ConversationPorts, makeConversation } from "#runtime/conversation/ConversationActor.ts"
import { foretell, requestAfter } from "#runtime/conversation/foretell.ts"
import type { AmdVerdict } from "./Amd.ts"
import { CallModel } from "./CallModel.ts"
import type { CallVoice } from "./CallVoice.ts"
import { endReasons, hangupCauses } from "./endReasons.ts"
import type { FrameListener } from "./FrameListener.ts"
import { makeHearing } from "./Hearing.ts"
import { LineSpeaker } from "./LineSpeaker.ts"
import type { Moment } from "./MessageMoment.ts"
import type { Openings } from "./Openings.ts"
import type { Playout } from "./Playout.ts"
import { sentencesOf } from "./Sentences.ts"
import { SpeechAhead } from "./SpeechAhead.ts"
import { TalkMeter } from "./TalkMeter.ts"
import { callVoiceOf, voicedBy } from "./TalkVoice.ts"
import { TurnJudge } from "./TurnJudge.ts"
import { TurnTaking } from "./TurnTaking.ts"
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
  readonly #judge: TurnJudge
  readonly #model: CallModel
  readonly #pressed = makePressedKeys()
  readonly #rules: { readonly [IsFree in "free" | "protected"]: BargeInRules }
  #playout: Playout | undefined
  #speaker: LineSpeaker | undefined
  #turns: TurnTaking | undefined
  #voice: Voice | undefined
  #actor: ConversationActor | undefined
  #isBeeping = false
  #end: ConversationEvent = { _tag: "CalleeHungUp" }
  readonly #meter: TalkMeter
  readonly #callVoice: CallVoice
  readonly #ahead: SpeechAhead
  /** Tells the current thought from those discarded before they began. */
  #thoughts = 0

  constructor(plan: VoicePlan, ports: TalkPorts, workshop: Workshop) {
    const planned = plan.conversation
    const { bargeIn, hearing, hintsAt, model, substitutes } = planned
    this.#planned = planned
    this.#plan = plan
    this.#ports = ports
    this.#workshop = workshop
    this.#rules = { free: { ...bargeIn, allowInterrupt: true }, protected: { ...bargeIn, allowInterrupt: false } }
    const hints = hintsAt(planned.plan.graph.start)
    const understood = (event: RecognizerEvent) => {
      this.#meter.understood(event)
      this.#turns?.understood(event)
    }
    const deafened = ({ provider }: SpeechToText, { message }: ModelError) =>
      this.#note({ _tag: "Troubled", at: this.#epochNow(), error: `A recognizer failed: ${message}`, processor: provider })
    this.#hearing = hearing === undefined ? undefined : makeHearing([hearing, ...substitutes], hints, understood, deafened)
    this.#meter = this.#makeMeter()
    const { now, openings } = ports
    this.#model = new CallModel(model, { ...workshop, now, waited: (millis) => this.#meter.thought(millis) })
    this.#judge = new TurnJudge({ now, fork: workshop.fork, language: hints.language }, expectedAt(planned.plan.graph.start))
    this.#callVoice = callVoiceOf({ plan, openings, voice: () => this.#voice })
    this.#ahead = new SpeechAhead(workshop.fork, (text, wanted) => openings.sentence(text, wanted, this.#callVoice.next, () => {}))
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
    this.#turns = new TurnTaking(
      { now, playout, rules, recognizer: this.#hearing, judge: this.#judge.judge },
      {
        speculate: (text) => this.#thinkAhead(text),
        cancelSpeculation: () => this.#forget(),
        tell: this.#tell,
        committed: (turn) => this.#committed(turn),
        interrupted: (played) => speaker.interrupted(played)
      }
    )
    return [this.#toneListener(), this.#judge, this.#turns]
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
    fork(Scope.provide(this.#judge.open(this.#planned.endOfTurn), scope))
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
    return new TalkMeter({
      now,
      epochOf: (time) => this.#voice?.epochOf(time) ?? time,
      note: this.#note,
      services: {
        recognizer: this.#planned.hearing ?? { provider: "none", model: "" },
        endOfTurn: () => this.#judge.model,
        model: () => this.#model
      },
      heardSeconds: () => this.#hearing?.seconds() ?? 0,
      spoken: () => this.#callVoice.spoken
    })
  }

  #conversationPorts({ line }: Voice): ConversationPorts {
    const { emit, verbs } = this.#ports
    const quiet = Effect.suspend(() => this.#speaker?.quiet ?? Effect.void)
    return {
      model: this.#model,
      speaker: this.#speaker ?? mute,
      runTool: verbs.runTool,
      sendDigits: (digits) => Effect.andThen(quiet, verbs.sendDigits(digits)),
      transfer: (destination, timeoutSeconds) => Effect.andThen(quiet, this.#transfer(destination, timeoutSeconds)),
      write: (fact) => Effect.sync(() => this.#note(fact)),
      hangUp: (reason) => emit({ _tag: "EndWanted", cause: hangupCauses[reason] ?? "agent_hangup" }),
      entered: (node) => {
        this.#hearing?.hint(this.#planned.hintsAt(node))
        this.#judge.expects = expectedAt(node)
      },
      awaitMoment: (message) => {
        // All of it, because it must not stop in the middle. Speech that is not cached would have to be made a second time.
        if (this.#plan.voice?.speech.isCacheable !== false) this.#ahead.make(sentencesOf(plainSpeech(message)), "soon")
        line.awaitMoment(this.#isBeeping)
      }
    }
  }

  /** The model, if its answers are free and a voice on this machine speaks: preparing what may never be heard must cost nothing. */
  get #free(): LanguageModel | undefined {
    return (this.#plan.voice?.speech.ownsQueue ?? true) ? this.#model.free : undefined
  }

  /** The callee may have finished: the answer is started, but none of it is said or acted on until that is certain. */
  #thinkAhead(text: string): void {
    if (this.#free !== undefined) return this.#foretell(text)
    const thought = ++this.#thoughts
    this.#actor?.look((stand) => {
      const request = requestAfter(text, stand)
      if (request !== undefined && this.#thoughts === thought) this.#model.begin(request)
      return Effect.void
    })
  }

  /** Synthesizes what the agent may say next while the callee is not waiting for it yet. `text`: what they seem to have said. */
  #foretell(text: string | undefined): void {
    const free = this.#free
    if (free === undefined) return
    const thought = ++this.#thoughts
    this.#actor?.look((stand) =>
      Effect.map(foretell(stand, free, text), (lines) => {
        if (this.#thoughts === thought) this.#ahead.make(lines, text === undefined ? "whenever" : "soon")
      })
    )
  }

  #forget(): void {
    this.#thoughts++
    this.#model.drop()
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
}

const mute: ConversationPorts["speaker"] = { say: () => {}, play: () => {}, stop: () => {} }
