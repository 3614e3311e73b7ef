/**
 * One call at a carrier of Plivo's dialect: its life from the queue to the end, its records, its callbacks, and the document that the carrier requests
 * when the callee answers.
 */
import { randomUUID } from "node:crypto"
import { setTimeout as sleep } from "node:timers/promises"
import { type Verb, verbsOf } from "#test/emulators/twilio/twiml.ts"
import type { CallbackSender } from "./CallbackSender.ts"
import { type HostedAccount, HostedCall } from "./HostedCall.ts"
import type { Dial } from "./PlivoDialectDials.ts"
import { type DialectEnd, endingOf, ownEnds } from "./PlivoDialectEnds.ts"
import { dialectWords, type MediaTraits } from "./plivoDialectMedia.ts"

type Fields = Readonly<Record<string, string>>
type OutgoingCallback = Parameters<CallbackSender["send"]>[1]
type Reply = Parameters<NonNullable<OutgoingCallback["onReply"]>>[0]
type Told = OutgoingCallback & { readonly event: string }

/** What carriers of the dialect do differently. */
export interface CallTraits {
  /** A callback with these fields, as the carrier signs it. */
  readonly signed: (url: string, fields: Fields) => OutgoingCallback
  /** Whether a call has the same id as its request. */
  readonly hasOneId: boolean
  /** Every ended call is reported as `completed`, whatever its outcome. */
  readonly isAlwaysCompleted: boolean
  /** Callbacks give the reason for an end as a code too, not only as a word. */
  readonly tellsCodes: boolean
  readonly authId: string
  readonly media: MediaTraits & {
    /** The headers of the request for the socket. */
    readonly upgradeHeaders: (url: string) => Fields
    /** How often a refused socket is retried. */
    readonly retries: number
  }
}

interface DialectAccount extends HostedAccount {
  readonly traits: CallTraits
  /** False: calls are accepted, and end before they are dialed. */
  readonly hasCredit: boolean
  /** Requests for media sockets have no signature. */
  readonly hasUnsignedMedia: boolean
}

/** Callbacks have the local time of the carrier's console, without its zone; here, the console is in India. */
const zone = { millis: 19_800_000, name: "+05:30" }
const localTime = (at: number): string => new Date(at + zone.millis).toISOString().slice(0, 19).replace("T", " ")

/** Elements without effect here: the next element follows. */
const passedOver = new Set(["DTMF", "Play", "PreAnswer", "Record", "Speak"])

/** What this emulator supports: mu-law in both directions. A bidirectional stream has only the inbound track. */
const isStream = ({ audioTrack = "inbound", bidirectional, contentType, keepCallAlive }: Verb["attributes"]): boolean =>
  audioTrack === "inbound" && bidirectional === "true" && keepCallAlive === "true" && contentType === "audio/x-mulaw;rate=8000"

interface Destination {
  readonly number: string
  readonly shown: string
  readonly seconds: number
  /** `action` serves the next document, and `told` gets reports about the destination's leg. */
  readonly action: string
  readonly told: string
}

const dialAttributes = ["action", "callbackMethod", "callbackUrl", "callerId", "method", "timeout"]

/** Undefined: this emulator cannot dial it. */
const readDestination = (attributes: Verb["attributes"], [first, another]: Verb["children"]): Destination | undefined => {
  const { action = "", callbackMethod, callbackUrl = "", callerId = "", method, timeout = "" } = attributes
  const isPlain = Object.keys(attributes).every((name) => dialAttributes.includes(name)) && method === "POST" && callbackMethod === "POST"
  const areAddresses = [action, callbackUrl].every((one) => /^https?:\/\//.test(one) && one.length <= 2048)
  const areNumbers = [callerId, first?.text ?? ""].every((one) => /^[1-9]\d{6,14}$/.test(one)) && /^[1-9]\d*$/.test(timeout)
  if (!isPlain || !areAddresses || !areNumbers || first?.name !== "Number" || another !== undefined) return undefined
  return { action, number: first.text ?? "", seconds: Number(timeout), shown: callerId, told: callbackUrl }
}

export class DialectCall extends HostedCall<Told> {
  readonly requestUuid = randomUUID()
  readonly uuid: string
  readonly dialed: Dial
  readonly createdAt = Date.now()
  state: "queued" | "ringing" | "in-progress" | "ended" = "queued"
  end: DialectEnd | undefined
  startedAt: number | undefined
  answeredAt: number | undefined
  endedAt: number | undefined
  /** The seconds from the answer to the end. */
  seconds = 0
  readonly #account: DialectAccount
  /** The reason that is reported for a hang-up by the carrier itself. */
  #because: DialectEnd | undefined
  #isObeying = false
  /** How often the call was redirected to another document. */
  #redirects = 0
  /** The current document; a newer one replaces it. */
  #document: ReadonlyArray<Verb> = []
  #streamIsOver: (() => void) | undefined

  constructor(account: DialectAccount, dialed: Dial) {
    super(account, `+${dialed.to}`, ({ event }) => (event === "StartApp" ? "answer" : event === "Hangup" ? "end" : "before"))
    this.#account = account
    this.dialed = dialed
    this.uuid = account.traits.hasOneId ? this.requestUuid : randomUUID()
  }

  hasEnded(): boolean {
    return this.state === "ended"
  }

  /** Leaves the queue. */
  dial(): void {
    if (this.state !== "queued") return
    if (!this.#account.hasCredit) return this.#ended(ownEnds.noCredit, undefined)
    const { from, ring_timeout: ringTimeoutSeconds = 120, ring_url: ringUrl, time_limit: maxSeconds = 14_400 } = this.dialed
    this.state = "ringing"
    this.startedAt = Date.now()
    this.life = this.#account.lives.dial(
      { id: this.uuid, number: this.number, shown: `+${from}`, ringTimeoutSeconds, maxSeconds },
      {
        ringing: () => this.#tell(ringUrl, "Ring", { CallStatus: "ringing" }),
        answered: () => this.#answered(),
        ended: (end) => this.endThen(() => this.#ended(this.#because ?? endingOf(end), end.talkMillis))
      }
    )
  }

  /** Returns false if the call has already ended. */
  override hangUp(because?: DialectEnd): boolean {
    if (this.state === "ended") return false
    this.#because = because
    if (this.life === undefined) this.#ended(endingOf({ by: "us", ending: undefined, talkMillis: undefined }), undefined)
    else this.life.hangUp()
    return true
  }

  /** The record of a call that waits, rings or is up. */
  liveRecord(isQueued: boolean) {
    const { dialed, requestUuid: request_uuid, uuid: call_uuid } = this
    const { from, to } = dialed
    const call_status = isQueued ? "queued" : this.state
    const session_start = new Date(this.startedAt ?? this.createdAt).toISOString().replace("T", " ").replace("Z", "000")
    return { call_status, call_uuid, caller_name: "", direction: "outbound", from: `+${from}`, request_uuid, session_start, to }
  }

  #answered(): void {
    this.state = "in-progress"
    this.answeredAt = Date.now()
    const { answer_url: answerUrl, machine_detection: detection, machine_detection_url: detectionUrl } = this.dialed
    this.#tell(answerUrl, "StartApp", { CallStatus: "in-progress" }, (reply) => this.#obey(reply))
    const callee = this.life?.callee
    const isMachine = callee?.kind === "answers" && callee.sound === "machine"
    if (detection === "true") {
      this.#tell(detectionUrl, "MachineDetection", { CallStatus: "in-progress", IfMachine: "continue", Machine: String(isMachine) })
    }
    if (detection === "hangup" && isMachine) setImmediate(() => this.hangUp(ownEnds.machine))
  }

  /** Only the first reply counts. */
  #obey(reply: Reply): void {
    if (this.#isObeying) return
    this.#isObeying = true
    this.#obeyNext(reply)
  }

  #obeyNext(reply: Reply): void {
    if (reply?.status !== 200) return void this.hangUp(ownEnds.answerNotFetched)
    const verbs = /\bxml\b/.test(reply.mediaType) ? verbsOf(reply.body) : undefined
    if (verbs === undefined) return void this.hangUp(ownEnds.answerInvalid)
    void this.#follow(verbs)
  }

  /** Follows the document at another address from now on, and ends the stream. Returns false if nobody has answered or the call is over. */
  redirect(url: string): boolean {
    if (this.state !== "in-progress") return false
    this.#redirects += 1
    this.#ask(url, "Redirect", { CallStatus: "in-progress" })
    return true
  }

  /** Only the first reply counts, and only if the call has not been redirected since: it was redirected `redirects` times before. */
  #ask(url: string, event: string, fields: Fields, redirects = this.#redirects): void {
    let isReplied = false
    this.#tell(url, event, fields, (reply) => {
      if (isReplied || redirects !== this.#redirects) return
      isReplied = true
      this.endStream()
      this.#obeyNext(reply)
    })
  }

  async #follow(verbs: ReadonlyArray<Verb>): Promise<void> {
    this.#document = verbs
    for (const { attributes, children, name, text = "" } of verbs) {
      if (this.#document !== verbs) return
      const dialed = name === "Dial" ? readDestination(attributes, children) : undefined
      if (name === "Stream" && isStream(attributes)) await this.#stream(text)
      else if (dialed !== undefined) return this.#dialOther(dialed)
      else if (name === "Hangup") return void this.hangUp(ownEnds.hangupElement)
      else if (name === "Wait")
        await sleep(Number(attributes["length"] ?? 1) * 1000 * this.#account.lives.pace.scale, undefined, { ref: false })
      else if (!passedOver.has(name)) return void this.hangUp(ownEnds.answerInvalid)
    }
    if (this.#document === verbs) this.hangUp(ownEnds.endOfDocument)
  }

  /** Reports when the destination answers, and requests the next document once the dial is over. */
  #dialOther({ action, number, seconds, shown, told }: Destination): void {
    const redirects = this.#redirects
    const DialBLegUUID = randomUUID()
    const legs = { DialALegUUID: this.uuid, DialBLegUUID, DialBLegFrom: shown, DialBLegTo: number }
    const destination = this.#account.lives.dial(
      { id: DialBLegUUID, number: `+${number}`, shown: `+${shown}`, ringTimeoutSeconds: seconds },
      {
        ringing: () => {},
        answered: () => this.#tell(told, "DialAnswer", { ...legs, CallStatus: "in-progress", DialAction: "answer" }),
        ended: (end) => {
          if (this.destination === destination) this.destination = undefined
          const { status, word } = endingOf(end)
          const CallStatus = this.state === "ended" ? "completed" : "in-progress"
          const isAnswered = end.talkMillis !== undefined
          if (isAnswered) this.#tell(told, "DialHangup", { ...legs, CallStatus, DialAction: "hangup", DialBLegHangupCause: word })
          const dial = { ...legs, CallStatus, DialHangupCause: word, DialStatus: status, DialRingStatus: "true" }
          this.#ask(action, "Redirect", dial, redirects)
        }
      }
    )
    this.destination = destination
  }

  /** Resolves when the stream is over, or when all attempts were refused. */
  #stream(url: string): Promise<void> {
    return new Promise((resolve) => {
      this.#streamIsOver = resolve
      this.#connect(url, this.#account.traits.media.retries)
    })
  }

  #connect(url: string, retries: number): void {
    const { hasUnsignedMedia, traits } = this.#account
    const { authId: accountId, media } = traits
    if (this.life === undefined || this.state === "ended") return
    const leg = this.open(this.life, {
      url,
      headers: hasUnsignedMedia ? {} : media.upgradeHeaders(url),
      words: dialectWords({ accountId, callId: this.uuid }, media),
      onLost: ({ status }) => {
        // A newer socket has replaced this one.
        if (this.legs.at(-1) !== leg) return
        if (status === undefined || retries === 0) this.#streamIsOver?.()
        else this.#connect(url, retries - 1)
      }
    })
    leg.start()
  }

  #ended(end: DialectEnd, talkMillis: number | undefined): void {
    if (this.state === "ended") return
    this.state = "ended"
    this.end = end
    this.endedAt = Date.now()
    this.seconds = talkMillis === undefined ? 0 : Math.max(1, Math.round(talkMillis / 1000))
    const { answeredAt, seconds } = this
    this.#tell(this.dialed.hangup_url, "Hangup", {
      CallStatus: this.#account.traits.isAlwaysCompleted ? "completed" : end.status,
      HangupCause: end.word,
      ...(this.#account.traits.tellsCodes
        ? { HangupCauseCode: String(end.code), HangupCauseName: end.name, HangupSource: end.source }
        : {}),
      StartTime: localTime(this.startedAt ?? this.createdAt),
      ...(answeredAt === undefined ? {} : { AnswerTime: localTime(answeredAt) }),
      EndTime: localTime(this.endedAt),
      Duration: String(seconds),
      BillDuration: String(seconds),
      BillRate: "0.0085",
      TotalCost: this.cost
    })
  }

  /** Each minute that has begun is billed. */
  get cost(): string {
    return (Math.ceil(this.seconds / 60) * 0.0085).toFixed(5)
  }

  /** A time in the form of the records. */
  static zoned(at: number | undefined): string | null {
    return at === undefined ? null : localTime(at) + zone.name
  }

  #tell(url: string | undefined, event: string, more: Fields, onReply?: (reply: Reply) => void): void {
    if (url === undefined) return
    const { from, to } = this.dialed
    const fields = {
      ALegRequestUUID: this.requestUuid,
      ALegUUID: this.uuid,
      CallUUID: this.uuid,
      CallerName: `+${from}`,
      Direction: "outbound",
      Event: event,
      From: from,
      RequestUUID: this.requestUuid,
      STIRAttestation: "",
      SessionStart: localTime(this.startedAt ?? this.createdAt),
      To: to,
      ...more
    }
    this.tell({ ...this.#account.traits.signed(url, fields), event, ...(onReply === undefined ? {} : { onReply }) })
  }

  protected send(told: Told): void {
    this.#account.callbacks.send(this.uuid, told)
  }
}
