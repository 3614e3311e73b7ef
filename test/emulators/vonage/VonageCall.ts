/** One outbound call at Vonage: its record, the leg of the websocket that it is connected to, and the webhooks that report both. */
import { randomUUID } from "node:crypto"
import type { CallbackSender } from "#test/emulators/shared/CallbackSender.ts"
import type { CallEnd, CallLives } from "#test/emulators/shared/CallLife.ts"
import { Disorder } from "#test/emulators/shared/Disorder.ts"
import { MediaLeg } from "#test/emulators/shared/MediaLeg.ts"
import { signatureOf, type WebhookKeys } from "./tokens.ts"
import { vonageWords } from "./vonageMedia.ts"
import { type CallRequest, jsonIn, readDocument, type VonageDestination } from "./VonageRequest.ts"

interface Ending {
  readonly status: string
  readonly detail?: string
}

export interface Telling {
  readonly callbacks: CallbackSender
  readonly keys: WebhookKeys
  /** How unanswered calls end from now on, whoever is called. */
  ending: Ending | undefined
  /** Whether every end is followed by a `completed`. */
  completesAll: boolean
  /** How long after the end of the stream the end of a call is reported. */
  endMillis: number
}

interface Told {
  readonly url: string
  readonly status: string
  readonly body: string
}

type OnReply = NonNullable<Parameters<CallbackSender["send"]>[1]["onReply"]>

const PRICE_PER_MINUTE = 0.0072

const endingOf = ({ by, ending, talkMillis }: CallEnd): Ending => {
  if (talkMillis !== undefined) return { status: "completed" }
  if (by === "us") return { status: "cancelled" }
  if (by === "timeout") return { status: "timeout" }
  const endings: Readonly<Record<number, Ending>> = {
    404: { status: "rejected", detail: "invalid_number" },
    486: { status: "busy" },
    503: { status: "failed", detail: "carrier_timeout" },
    603: { status: "rejected", detail: "declined" }
  }
  return endings[ending?.sipStatus ?? 480] ?? { status: "unanswered", detail: "unavailable" }
}

const ends = new Set(["busy", "cancelled", "completed", "failed", "rejected", "timeout", "unanswered"])
const placeOf = ({ status }: Told) => (status === "answered" ? "answer" : ends.has(status) ? "end" : "before")

export class VonageCall {
  readonly uuid: string = randomUUID()
  readonly conversationUuid = `CON-${randomUUID()}`
  readonly createdAt = Date.now()
  readonly request: CallRequest
  readonly life: ReturnType<CallLives["dial"]>
  /** Resolves when the reply to the request may be sent. */
  readonly placed: Promise<void>
  status = "started"
  /** Its websockets, in order. */
  readonly legs: Array<MediaLeg> = []
  #bill: Readonly<Record<string, string>> = {}
  readonly #lives: CallLives
  readonly #telling: Telling
  readonly #disorder: Disorder<Told> | undefined
  readonly #legUuid = randomUUID()
  #socket: CallRequest["socket"]
  /** The destination that is connected to the callee, or is being dialed for them. */
  #destination: ReturnType<CallLives["dial"]> | undefined

  constructor(request: CallRequest, lives: CallLives, telling: Telling) {
    this.request = request
    this.#lives = lives
    this.#telling = telling
    this.#socket = request.socket
    const { from, limitSeconds, ringSeconds, to } = request
    this.life = lives.dial(
      { id: this.uuid, number: `+${to}`, shown: `+${from}`, ringTimeoutSeconds: ringSeconds, maxSeconds: limitSeconds },
      { ringing: () => this.#move("ringing"), answered: () => this.#answered(), ended: (end) => this.#ended(end) }
    )
    const { callee } = this.life
    const isDisorderly = callee.kind === "answers" && callee.disorderly === true
    this.#disorder = isDisorderly ? new Disorder((told) => this.#send(told), placeOf) : undefined
    this.placed = this.#disorder?.answered ?? Promise.resolve()
    this.#move("started")
  }

  /** The bill and the times are present once the call is completed. */
  record(): object {
    const { conversationUuid: conversation_uuid, status, uuid } = this
    const [to, from] = [this.request.to, this.request.from].map((number) => ({ type: "phone", number }))
    return { uuid, conversation_uuid, status, direction: "outbound", to, from, network: "65512", ...this.#bill }
  }

  #move(status: string, details: Readonly<Record<string, string>> = {}): void {
    this.status = status
    this.#tell(this.#ids(status, details))
  }

  #answered(): void {
    const start_time = new Date().toISOString()
    this.#move("answered", { start_time, rate: PRICE_PER_MINUTE.toFixed(8), network: "" })
    this.connect()
    const { callee } = this.life
    const { detects } = this.request
    const isMachine = callee.kind === "answers" && callee.sound === "machine"
    if (detects !== "no") this.#tellDetected(isMachine ? "machine" : "human")
    if (detects === "beep" && isMachine) this.#tellDetected("machine", { sub_state: "beep_start" })
  }

  /** Connects to the websocket of the answer document: at the answer, and again when the call is transferred. */
  connect(): void {
    const socket = this.#socket
    if (socket === undefined) return
    this.legs.at(-1)?.end()
    this.#tellLeg("started")
    this.#tellLeg("answered")
    const { log, pace } = this.#lives
    const leg = new MediaLeg({
      id: this.uuid,
      url: socket.uri,
      callee: this.life.callee,
      log,
      words: vonageWords,
      pressMillis: (pace.talkMillis * pace.scale) / 8,
      onPressedAll: () => this.life.pressedAll(),
      onLost: () => {
        this.#tellLeg("disconnected")
        // Nothing follows the websocket in the document.
        this.life.hangUp()
      }
    })
    this.legs.push(leg)
    leg.start()
  }

  /** Follows another document, and ends the stream. Returns false if the document cannot be followed. */
  replace(document: unknown): boolean {
    const next = readDocument(document, this.request.eventUrl)
    if (next === undefined) return false
    this.legs.at(-1)?.end()
    this.#destination?.hangUp()
    if ("number" in next) this.#dialOther(next)
    else {
      this.#socket = next
      this.connect()
    }
    return true
  }

  /** Nothing follows in the document: when the destination hangs up, the call ends. */
  #dialOther({ eventUrl: url, number, seconds, shown }: VonageDestination): void {
    const uuid = randomUUID()
    const tell = (status: string, details: Readonly<Record<string, string>> = {}, onReply?: OnReply) =>
      this.#send({ url, status, body: JSON.stringify({ ...this.#ids(status, details), from: shown, to: number, uuid }) }, onReply)
    const destination = this.#lives.dial(
      { id: uuid, number: `+${number}`, shown: `+${shown}`, ringTimeoutSeconds: seconds },
      {
        ringing: () => tell("ringing"),
        answered: () => tell("answered", { start_time: new Date().toISOString(), network: "" }),
        ended: (end) => {
          const { detail, status } = endingOf(end)
          const duration = String(Math.ceil((end.talkMillis ?? 0) / 1000))
          const isCurrent = this.#destination === destination
          if (isCurrent) this.#destination = undefined
          const isOver = status === "completed" || !isCurrent
          const isReplaced = (reply: Parameters<OnReply>[0]) => reply?.status === 200 && !isOver && this.replace(jsonIn(reply.body))
          tell(status, status === "completed" ? { duration } : detail === undefined ? {} : { detail }, (reply) => {
            if (isCurrent && this.life.state === "up" && !isReplaced(reply)) this.life.hangUp()
          })
        }
      }
    )
    this.#destination = destination
    tell("started")
  }

  #ended(end: CallEnd): void {
    // The stream and the leg of the destination end first.
    this.legs.at(-1)?.end()
    this.#destination?.hangUp()
    const { endMillis } = this.#telling
    if (endMillis === 0 || this.legs.length === 0) this.#tellEnd(end)
    else setTimeout(() => this.#tellEnd(end), endMillis).unref()
  }

  #tellEnd(end: CallEnd): void {
    const isTalk = end.talkMillis !== undefined
    const { detail, status } = (isTalk || end.by === "us" ? undefined : this.#telling.ending) ?? endingOf(end)
    const seconds = Math.ceil((end.talkMillis ?? 0) / 1000)
    const now = Date.now()
    this.#bill = {
      duration: String(seconds),
      end_time: new Date(now).toISOString(),
      rate: PRICE_PER_MINUTE.toFixed(8),
      price: ((seconds / 60) * PRICE_PER_MINUTE).toFixed(8),
      ...(isTalk ? { start_time: new Date(now - seconds * 1000).toISOString() } : {})
    }
    if (isTalk) this.#tellLeg("completed")
    this.#move(status, status === "completed" ? this.#bill : detail === undefined ? {} : { detail })
    if (!isTalk && this.#telling.completesAll) this.#tell(this.#ids("completed", this.#bill))
  }

  #ids(status: string, details: Readonly<Record<string, string>> = {}) {
    const { from, to } = this.request
    const { conversationUuid: conversation_uuid, uuid } = this
    return { from, to, uuid, conversation_uuid, status, direction: "outbound", timestamp: new Date().toISOString(), ...details }
  }

  /** These events have `call_uuid` instead of `uuid`. */
  #tellDetected(status: string, details: Readonly<Record<string, string>> = {}): void {
    const { uuid: call_uuid, ...ids } = this.#ids(status, details)
    this.#tell({ call_uuid, ...ids })
  }

  /** The websocket is a separate leg of the conversation. Its events go to the address of the action that connected it. */
  #tellLeg(status: string): void {
    const socket = this.#socket
    const details = status === "completed" ? { ...this.#bill, price: "0.00000000" } : {}
    if (socket === undefined) return
    this.#send({
      url: socket.eventUrl,
      status,
      body: JSON.stringify({ ...this.#ids(status, details), uuid: this.#legUuid, to: socket.uri })
    })
  }

  #tell(event: Readonly<Record<string, string>> & { readonly status: string }): void {
    const told = { url: this.request.eventUrl, status: event.status, body: JSON.stringify(event) }
    if (this.#disorder === undefined) this.#send(told)
    else this.#disorder.add(told)
  }

  #send({ body, url }: Told, onReply?: OnReply): void {
    const { callbacks, keys } = this.#telling
    callbacks.send(this.uuid, { url, headers: signatureOf(body, keys), body, ...(onReply === undefined ? {} : { onReply }) })
  }
}
