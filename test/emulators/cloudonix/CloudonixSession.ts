/** One session at Cloudonix: from the request for a call to its end, with its many callbacks and its record. */
import { randomBytes, randomUUID } from "node:crypto"
import type { CallEnd } from "#test/emulators/shared/CallLife.ts"
import { type HostedAccount, HostedCall, type OnReply } from "#test/emulators/shared/HostedCall.ts"
import { verbsOf } from "#test/emulators/twilio/twiml.ts"
import { cloudonixWords } from "./cloudonixMedia.ts"
import { type Dialed, isDial } from "./cxml.ts"
import type { Order } from "./orders.ts"

type SessionStatus = "new" | "processing" | "ringing" | "connected" | Ended
type Ended = "completed" | "busy" | "noanswer" | "cancel" | "congestion" | "failed" | "nocredit"

/** What the sessions of a domain have in common. */
export interface Domain {
  readonly name: string
  readonly id: number
  /** Where the record of each call is sent; undefined: nowhere. */
  recordUrl: string | undefined
  /** What the record says instead of the real outcome. */
  recordSays: string | undefined
  /** False: status callbacks are lost, and only the record comes. */
  hasCallbacks: boolean
  /** False: the account has no credit, which only the session shows. */
  hasCredit: boolean
}

interface CloudonixAccount extends HostedAccount {
  readonly domain: Domain
}

interface Told {
  readonly status: SessionStatus
  readonly body: string
}

/** Statuses by the SIP status that ended an attempt; others are failures. */
const refusals: Readonly<Record<number, Ended>> = { 480: "noanswer", 486: "busy", 503: "congestion" }
/** The record uses other words for the same ends, and not always the same ones. */
const dispositions: Readonly<Record<string, ReadonlyArray<string>>> = {
  completed: ["ANSWER", "ANSWERED", "CONNECTED"],
  noanswer: ["NOANSWER", "NO ANSWER"]
}

const dialStatuses: Readonly<Partial<Record<Ended, string>>> = {
  busy: "busy",
  cancel: "canceled",
  completed: "completed",
  noanswer: "no-answer"
}

const endOf = ({ by, ending, talkMillis }: CallEnd): { readonly status: Ended; readonly error?: string } => {
  if (talkMillis !== undefined) return { status: "completed" }
  if (by === "timeout") return { status: "noanswer" }
  if (by === "us") return { status: "cancel" }
  const sip = ending?.sipStatus ?? 480
  const status = refusals[sip] ?? "failed"
  return status === "failed" ? { status, error: `SIP ${sip}` } : { status }
}

/** The status of a dial in a document. */
const dialStatusOf = (end: CallEnd): string => {
  const { status } = endOf(end)
  return dialStatuses[status] ?? "failed"
}

export class CloudonixSession extends HostedCall<Told> {
  readonly token = randomBytes(16).toString("hex")
  /** A SIP id, which is not the token. */
  readonly callId = randomUUID()
  readonly order: Order
  status: SessionStatus = "new"
  endedAt: number | undefined
  readonly #id = Number.parseInt(randomBytes(3).toString("hex"), 16)
  readonly #account: HostedAccount
  readonly #domain: Domain
  readonly #createdAt = Date.now()
  #modifiedAt = this.#createdAt
  #startedAt: number | undefined
  #answeredAt: number | undefined
  #error: string | undefined
  #told = 0

  constructor(account: CloudonixAccount, order: Order) {
    super(account, order.destination, placeOf)
    this.#account = account
    this.#domain = account.domain
    this.order = order
  }

  start(): void {
    this.#tell()
    this.#tell()
    if (!this.#domain.hasCredit) return this.#end("nocredit")
    this.life = this.#dial(this.order)
    this.#startedAt = Date.now()
    this.#move("processing")
  }

  hasEnded(): boolean {
    return this.endedAt !== undefined
  }

  /** The session object, as in callbacks. */
  record() {
    const { destination, callerId } = this.order
    const times = { call: this.#startedAt, answer: this.#answeredAt, end: this.endedAt }
    const iso = (at: number | undefined) => (at === undefined ? null : new Date(at).toISOString())
    return {
      id: this.#id,
      domainId: this.#domain.id,
      domain: this.#domain.name,
      destination,
      callerId,
      direction: "outbound-api",
      token: this.token,
      status: this.status,
      ...(this.#error === undefined ? {} : { error: this.#error }),
      createdAt: iso(this.#createdAt),
      modifiedAt: iso(this.#modifiedAt),
      callStartTime: times.call ?? null,
      callAnswerTime: times.answer ?? null,
      callEndTime: times.end ?? null
    }
  }

  #dial({ callerId, destination, ringTimeoutSeconds, timeLimit }: Order) {
    const settings = { id: this.token, number: destination, shown: callerId, ringTimeoutSeconds }
    return this.#account.lives.dial(timeLimit === undefined ? settings : { ...settings, maxSeconds: timeLimit }, {
      ringing: () => this.#move("ringing"),
      answered: () => this.#answer(),
      ended: (end) => {
        const { error, status } = endOf(end)
        this.#error = error
        this.endThen(() => this.#end(status))
      }
    })
  }

  #answer(): void {
    this.#answeredAt = Date.now()
    this.#move("connected")
    this.#obey(this.order.cxml)
  }

  /** Ends the stream and the dialed leg, then runs the document. Returns false if nobody has answered or the call is over. */
  replace(document: string): boolean {
    if (this.status !== "connected") return false
    const { destination } = this
    this.destination = undefined
    this.legs.at(-1)?.end()
    destination?.hangUp()
    this.#obey(document)
    return true
  }

  #obey(document: string): void {
    const [verb] = verbsOf(document) ?? []
    if (verb?.name === "Connect") return this.restream(document)
    if (isDial(verb)) return this.#connect(verb)
    const millis = verb?.name === "Pause" ? Number(verb.attributes["length"] ?? 1) * 1000 * this.#account.lives.pace.scale : 0
    // The call ends with its document.
    setTimeout(() => this.life?.hangUp(), millis).unref()
  }

  /** Dials a destination, reports nothing about it, and requests the next document once the dial is over. */
  #connect({ attributes, children: [{ text: number }] }: Dialed): void {
    const { action, callerId: shown = this.order.callerId, timeout = "60" } = attributes
    const dialed = this.#account.lives.dial(
      { id: randomUUID(), number, shown, ringTimeoutSeconds: Number(timeout) },
      {
        ringing: () => {},
        answered: () => {},
        ended: (end) => {
          // A newer document has replaced this one.
          if (this.destination !== dialed) return
          this.destination = undefined
          if (action === undefined) this.life?.hangUp()
          else this.#ask(action, dialStatusOf(end))
        }
      }
    )
    this.destination = dialed
  }

  /** Requests the next document. Only the first reply counts. */
  #ask(url: string, status: string): void {
    const { callerId: From, destination: To } = this.order
    const names = { CallSid: this.callId, Session: this.token, From, To, Direction: "outbound-api", Domain: this.#domain.name }
    let isReplied = false
    // The request does not wait for the session's callbacks.
    this.#post(url, JSON.stringify({ ...names, CallStatus: status }), `${this.token} document`, (reply) => {
      if (isReplied || this.hasEnded()) return
      isReplied = true
      this.#obey(reply?.status === 200 ? reply.body : "")
    })
  }

  /** Connects to the stream of the document: once the callee has answered, and again when the document is run again. */
  restream(document = this.order.cxml): void {
    const url = verbsOf(document)?.[0]?.children[0]?.attributes["url"]
    const { callId, life, token } = this
    if (url === undefined || life === undefined) return
    this.legs.at(-1)?.end()
    const { name: domain } = this.#domain
    const { callerId: from, destination: to } = this.order
    const words = cloudonixWords({ callId, domain, from, to, token })
    // Nothing follows the stream in the document.
    this.open(life, { url, words, onLost: () => life.hangUp() }).start()
  }

  #end(status: Ended): void {
    if (this.hasEnded()) return
    this.endedAt = Date.now()
    this.#move(status)
    const { recordSays, recordUrl } = this.#domain
    if (recordUrl !== undefined) this.#post(recordUrl, JSON.stringify(this.#callRecord(recordSays ?? this.#disposition())))
  }

  /** Each status comes several times. */
  #move(status: SessionStatus): void {
    this.status = status
    this.#modifiedAt = Date.now()
    const copies = this.isOrderly() ? 2 + (this.#told % 4) : 1
    for (let copy = 0; copy < copies; copy++) this.#tell()
  }

  /** Sends the session alternately as an object and as an array of one. */
  #tell(): void {
    if (!this.#domain.hasCallbacks) return
    const record = this.record()
    this.tell({ status: this.status, body: JSON.stringify(this.#told++ % 2 === 0 ? record : [record]) })
  }

  protected send({ body }: Told): void {
    const { callback } = this.order
    if (callback !== undefined) this.#post(callback, body)
  }

  #post(url: string, body: string, queue = this.token, onReply?: OnReply): void {
    const headers = { "content-type": "application/json", "x-cx-domain": this.#domain.name }
    this.#account.callbacks.send(queue, { url, headers, body, ...(onReply === undefined ? {} : { onReply }) })
  }

  #disposition(): string {
    const spellings = dispositions[this.status] ?? [this.status.toUpperCase()]
    return spellings[this.#id % spellings.length] ?? ""
  }

  #callRecord(disposition: string) {
    const { callerId: from, destination: to } = this.order
    const { callAnswerTime, callEndTime, callStartTime, direction, token } = this.record()
    const seconds = (since: number | null) => (since === null ? 0 : Math.ceil(((callEndTime ?? since) - since) / 1000))
    return {
      domain: this.#domain.name,
      call_id: this.callId,
      from,
      to,
      disposition,
      duration: seconds(callStartTime),
      billsec: seconds(callAnswerTime),
      timestamp: Math.floor(Date.now() / 1000),
      session: { token, callStartTime, callAnswerTime, callEndTime, direction },
      vapp_server: "127.0.0.1"
    }
  }
}

const placeOf = ({ status }: Told) => (status === "connected" ? "answer" : status === "completed" ? "end" : "before")
