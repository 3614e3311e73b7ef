/**
 * A call on a simulated clock: its carrier plays a story, and its reports arrive repeated, out of order and late, as the draws decide.
 * Everything between a callback and the record of the call is the engine's own code: how reports are read and delivered, the call's state
 * machine, its outcome.
 */
import { Clock, Effect, Queue } from "effect"
import { isDeepStrictEqual } from "node:util"
import { CallEvent, type CallLimits, type CallState, isOver, type Step } from "#core/call/Call.ts"
import { dial, transition } from "#core/call/CallMachine.ts"
import { reportDueAt } from "#core/call/ending.ts"
import { decide, defaultRetryConfig } from "#core/campaign/RetryPolicy.ts"
import { AgentDefinitionId, OrganizationId, RunId, TelephonyConfigId } from "#core/Id.ts"
import { isBreakerFailure } from "#core/outcome/Outcome.ts"
import { isAlive, type Look } from "#core/provider/Adapter.ts"
import type { TrunkEvent } from "#core/provider/TrunkEvent.ts"
import { deliver } from "#runtime/call/deliver.ts"
import { LiveCall } from "#runtime/call/LiveCall.ts"
import { endOf } from "#runtime/call/RunReport.ts"
import type { LiveTrunk } from "#runtime/trunk/TrunkPool.ts"
import { callId, type Facts, type Happening, type Story, type Why } from "./carrierStories.ts"
import { refTo } from "./refTo.ts"
import { planOfCall } from "./voiceScene.ts"

const { Accepted, DeadlinePassed, Doubted, EndAsked, EndChecked, Looked, MediaLost } = CallEvent.cases

/** No longer than the engine holds back an end to wait for a late answer. */
const LATEST_MILLIS = 4900
const LAG_MILLIS = 3000
const REPLY_TIMEOUT_MILLIS = 15_000
const LOOK_TIMEOUT_MILLIS = 10_000
/** After a claim that the call has ended, the engine looks after each of these pauses, until a record reports the end. */
const CHECKS_MILLIS = [0, 1000, 3000, 8000, 20_000]
const WIRE_MILLIS = 50
const FOREVER_MILLIS = 1_800_000

/** Random numbers that decide everything about a schedule. Once they are used up, the rest of the schedule is in order. */
export class Draws {
  readonly #bytes: ArrayLike<number>
  #next = 0

  constructor(bytes: ArrayLike<number>) {
    this.#bytes = bytes
  }

  get #byte(): number {
    return this.#bytes[this.#next++] ?? 0
  }

  /** 0 is what happens in an orderly schedule. */
  below(count: number): number {
    return Math.floor((this.#byte / 256) * count)
  }

  /** Zero in two of five cases, otherwise any time up to `most`. */
  millis(most: number): number {
    return Math.max(0, ((this.#byte - 102) / 153) * most)
  }
}

const limitsOf = (detects: boolean): CallLimits => ({ detects, maxDurationSeconds: 300, queues: true, ringTimeoutSeconds: 60 })
const attempt: LiveCall["attempt"] = {
  agentDefinitionId: AgentDefinitionId.make(1),
  callId,
  campaign: undefined,
  organizationId: OrganizationId.make(1),
  runId: RunId.make(1),
  telephonyConfigurationId: TelephonyConfigId.make(1)
}
const voice = planOfCall({ record: false })
const mailbox = Effect.runSync(Queue.make<CallEvent>())
// The cast holds because only the provider's name is read.
const trunk = { adapter: { manifest: { provider: "carrier" } } } as LiveTrunk

/** A live call whose events go to the schedule instead of to an actor. */
class PlayedCall extends LiveCall {
  readonly #told: (event: CallEvent) => void

  constructor(detects: boolean, told: (event: CallEvent) => void) {
    super(attempt, refTo(callId), trunk, limitsOf(detects), voice, mailbox, undefined, undefined, {})
    this.#told = told
  }

  override tell(event: CallEvent): boolean {
    this.#told(event)
    return true
  }
}

interface Planned {
  readonly at: number
  readonly what: string
  readonly act: () => void
}

class Schedule {
  readonly log: Array<string> = []
  readonly call: PlayedCall
  state: CallState
  /** Whether the end was found by a lookup. A carrier's record says less about the reason than its callbacks. */
  isEndLookedUp = false
  /** When the engine first heard of the answer. */
  answerHeardAt: number | undefined
  /** How often the agent was given the audio. */
  attached = 0
  #now = 0
  #agenda: Array<Planned> = []
  #mailbox: Array<CallEvent> = []
  #facts: Array<Facts> = [{ at: 0, answeredAt: undefined, last: "placed", who: undefined, why: undefined }]
  #deadline: Planned | undefined
  #isNamed = false
  #wasSilent = false
  readonly #clock: Clock.Clock
  readonly #draws: Draws
  readonly #story: Story

  constructor(story: Story, draws: Draws) {
    this.#story = story
    this.#draws = draws
    this.#clock = {
      ...clock,
      currentTimeMillisUnsafe: () => this.#now,
      monotonicTimeNanosUnsafe: () => BigInt(Math.round(this.#now * 1e6))
    }
    const detects = story.plot.detects !== undefined || draws.below(2) === 1
    this.call = new PlayedCall(detects, (event) => void this.#mailbox.push(event))
    const first = dial(this.call.limits, 0)
    this.state = first.state
    this.#obey(first)
    this.#happen()
  }

  play(): void {
    while (!this.#isRecorded() && this.#now < FOREVER_MILLIS) {
      const next = this.#takeNext()
      if (next === undefined || next.at > (this.#reportDueAt() ?? FOREVER_MILLIS)) return
      this.#now = next.at
      this.log.push(`${(next.at / 1000).toFixed(2)} ${next.what}`)
      next.act()
      this.#work()
    }
  }

  #reportDueAt(): number | undefined {
    return this.state._tag === "Ended" ? reportDueAt(this.state) : undefined
  }

  #isRecorded(): boolean {
    return isOver(this.state) && this.#reportDueAt() === undefined
  }

  /** Among events that are due at the same time, takes the one that was planned first. */
  #takeNext(): Planned | undefined {
    let next = this.#agenda[0]
    for (const one of this.#agenda) if (next !== undefined && one.at < next.at) next = one
    this.#agenda = this.#agenda.filter((one) => one !== next)
    return next
  }

  #plan(after: number, what: string, act: () => void): Planned {
    const planned = { act, at: this.#now + after, what }
    this.#agenda.push(planned)
    return planned
  }

  #work(): void {
    for (let event = this.#mailbox.shift(); event !== undefined && !this.#isRecorded(); event = this.#mailbox.shift()) {
      const step = transition(this.state, event, this.call.limits)
      if (step.state !== this.state) this.log.push(`     ${event._tag}: ${JSON.stringify(step.state)}`)
      this.state = step.state
      this.#obey(step)
    }
  }

  #obey({ commands }: Step): void {
    for (const command of commands) {
      switch (command._tag) {
        case "Originate":
          this.#reply()
          break
        case "AttachVoice":
          this.#attach()
          break
        case "Hangup":
          this.#plan(WIRE_MILLIS, "is hung up", () => this.#isNamed && this.#end("us"))
          break
        case "Look":
          this.#look()
          break
        case "CheckEnd":
          this.#checkEnd()
          break
        case "SetDeadline":
          this.#agenda = this.#agenda.filter((one) => one !== this.#deadline)
          this.#deadline = this.#plan(command.afterMillis, "deadline", () => this.call.tell(DeadlinePassed.make({ at: this.#now })))
          break
      }
    }
  }

  /** The reply to the originate arrives in time, late, or never. */
  #reply(): void {
    if (this.#draws.below(8) === 7)
      return void this.#plan(REPLY_TIMEOUT_MILLIS, "no reply", () => this.call.tell(Doubted.make({ at: this.#now })))
    this.#plan(WIRE_MILLIS + this.#draws.millis(REPLY_TIMEOUT_MILLIS - 1000), "reply", () => {
      this.#isNamed = true
      this.call.tell(Accepted.make({}))
    })
  }

  #attach(): void {
    this.attached++
    const { isLeftAfter } = this.#story.plot
    if (isLeftAfter !== undefined) this.#plan(isLeftAfter, "agent leaves", () => this.#endFor("agent_hangup"))
    if (this.#draws.below(2) === 0) return
    // The stream that was opened for the answer may already have ended.
    if (this.#known.last === "ended") this.#loseMedia()
    else this.#whenEnded = () => this.#loseMedia()
  }
  #whenEnded = () => {}

  #loseMedia(): void {
    this.#plan(WIRE_MILLIS, "media ends", () => this.call.tell(MediaLost.make({ at: this.#now, failed: false })))
  }

  #endFor(cause: "agent_hangup" | "originator_cancel"): void {
    this.call.tell(EndAsked.make({ at: this.#now, cause }))
  }

  // --- the carrier

  get #known(): Facts {
    return this.#facts.at(-1) ?? { at: 0, answeredAt: undefined, last: "placed", who: undefined, why: undefined }
  }

  #happen(): void {
    const { answers, detects, ends, isCancelledAt, rings } = this.#story.plot
    const plan = (at: number | undefined, last: Happening, more: Partial<Facts> = {}) => {
      if (at !== undefined) this.#plan(at, `carrier: ${last}`, () => this.#move(last, more))
    }
    plan(0, "placed")
    if (this.#draws.below(4) === 3) this.#plan(this.#draws.millis(LATEST_MILLIS), "callback: queued", () => this.#hear({ _tag: "Queued" }))
    plan(rings, "rang")
    plan(answers, "answered", { answeredAt: answers })
    plan(detects?.at, "detected", { who: detects?.who })
    this.#plan(ends.at, "carrier: ended", () => this.#end(ends.why))
    if (isCancelledAt !== undefined) this.#plan(isCancelledAt, "operator cancels", () => this.#endFor("originator_cancel"))
  }

  #end(why: Why): void {
    if (this.#known.last === "ended") return
    this.#move("ended", { why })
    this.#whenEnded()
  }

  #move(last: Happening, more: Partial<Facts>): void {
    if (this.#known.last === "ended") return
    const facts: Facts = { ...this.#known, ...more, at: this.#now, last }
    this.#facts.push(facts)
    const copies = 1 + this.#draws.below(3)
    for (let copy = 1; copy <= copies; copy++) {
      this.#plan(WIRE_MILLIS + this.#draws.millis(LATEST_MILLIS), `callback: ${last}, copy ${copy} of ${copies}`, () => {
        for (const event of this.#story.read(last, facts, this.#isNamed)) this.#hear(event)
      })
    }
  }

  #hear(event: TrunkEvent): void {
    if (event._tag === "Named") this.#isNamed = true
    else {
      if (event._tag === "Answered") this.answerHeardAt ??= this.#now
      deliver(this.call, event, this.#clock)
    }
  }

  /** The record may lag behind, and one look may get no answer: more failures would take longer than an end is held back. */
  #look(): void {
    if (this.#draws.below(16) === 15 && !this.#wasSilent) {
      this.#wasSilent = true
      return void this.#plan(LOOK_TIMEOUT_MILLIS, "look: silent", () =>
        this.call.tell(Looked.make({ at: this.#now, deaf: false, presence: "silent" }))
      )
    }
    this.#ask("look", ({ presence }) => {
      const seen = presence === "ended" ? "gone" : presence
      this.call.tell(Looked.make({ at: this.#now, deaf: false, presence: seen }))
    })
  }

  #checkEnd([pause, ...others]: ReadonlyArray<number> = CHECKS_MILLIS): void {
    if (pause === undefined) {
      if (this.call.endClaim === "repeated") this.#checkEnd()
      else this.call.endClaim = undefined
      return
    }
    this.call.endClaim = "checked"
    this.#plan(pause, "check", () =>
      this.#ask("check", ({ presence, told }) => {
        if (told.some(({ _tag }) => _tag === "HungUp")) return
        if (!isAlive(presence)) this.call.tell(EndChecked.make({ at: this.#now }))
        this.#checkEnd(others)
      })
    )
  }

  /** The record may lag behind. What it reports is delivered first. */
  #ask(what: string, then: (look: Look) => void): void {
    const lag = this.#draws.millis(LAG_MILLIS)
    this.#plan(WIRE_MILLIS + this.#draws.millis(1000), `${what}, ${lag.toFixed(0)} ms behind`, () => {
      const facts = this.#facts.findLast(({ at }) => at <= this.#now - lag)
      const look: Look = facts === undefined ? { presence: "gone", told: [] } : this.#story.dialect.look(facts)
      // The carrier finds the call by our id or by its numbers.
      this.#isNamed ||= facts !== undefined
      if (isAlive(look.presence)) deliver(this.call, { _tag: "Rang" }, this.#clock)
      for (const event of look.told) {
        this.isEndLookedUp ||= event._tag === "HungUp"
        this.#hear(event)
      }
      then(look)
    })
  }
}

const clock = Effect.runSync(Clock.Clock)

/** The result of a call apart from its times. Undefined if the call has not ended. */
const finalOf = ({ call, state }: Schedule) => {
  if (state._tag !== "Ended") return undefined
  const { cutByTrunk, outcome, record } = endOf(call, state, undefined)
  const { call_disposition, call_tags, failure_class, hangup_cause } = record.gatheredContext
  const { dueAt: _, ...fate } = { dueAt: 0, ...decide({ config: defaultRetryConfig, cutByTrunk, endedAt: 0, outcome, retriesUsed: 0 }) }
  return {
    answered: state.answeredAt !== undefined,
    breakerFailure: isBreakerFailure(outcome),
    cause: hangup_cause,
    disposition: call_disposition,
    failureClass: failure_class,
    fate,
    outcome,
    tags: call_tags
  }
}

export const outcomeOf = (schedule: Schedule) => finalOf(schedule)?.outcome

const talkSecondsOf = (state: CallState): number =>
  state._tag === "Ended" && state.answeredAt !== undefined ? (state.endedAt - state.answeredAt) / 1000 : 0

const answeredAtOf = ({ state }: Schedule): number => (state._tag === "Ended" ? (state.answeredAt ?? 0) : 0)

/** The carriers' timestamps are whole seconds, and the engine uses them only if they differ by more than two from what it observed. */
const TALK_SECONDS = 2.5

/** Whether the callee's hangup determines how long the call lasts. If we end the call, a late callback makes it last longer. */
const lastsAsTold = ({ dialect, plot }: Story): boolean =>
  dialect.timesTalks && plot.isLeftAfter === undefined && plot.detects?.who !== "machine"

/** How the call of a schedule differs from the same call in order. Undefined if it does not. */
export const differenceOf = (story: Story, played: Schedule, ordered: Schedule): string | undefined => {
  const [is, should] = [finalOf(played), finalOf(ordered)]
  // A record says less about the reason of a failure than a callback.
  const isVague = played.isEndLookedUp && is?.outcome === "failed"
  const reason = isVague ? { cause: should?.cause, failureClass: should?.failureClass } : {}
  if (is === undefined || !isDeepStrictEqual({ ...is, ...reason }, should))
    return `${JSON.stringify(is)} instead of ${JSON.stringify(should)}`
  if (played.attached > 1) return `the agent was given the audio ${played.attached} times`
  if (!story.dialect.timesTalks && answeredAtOf(played) > (played.answerHeardAt ?? Infinity) + 1) return "answered after it was heard of"
  const [talk, told] = [talkSecondsOf(played.state), talkSecondsOf(ordered.state)]
  return lastsAsTold(story) && Math.abs(talk - told) > TALK_SECONDS ? `${talk} s instead of ${told} s` : undefined
}

export const play = (story: Story, draws: Draws): Schedule => {
  const schedule = new Schedule(story, draws)
  schedule.play()
  return schedule
}

export const orderly = (story: Story): Schedule => play(story, new Draws([]))
