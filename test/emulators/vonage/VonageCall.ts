/** One outbound call at Vonage: its record, the leg of the websocket that it is connected to, and the webhooks that report both. */
import { randomUUID } from "node:crypto"
import type { CallEnd, CallLife } from "#test/emulators/shared/CallLife.ts"
import { type HostedAccount, HostedCall, type OnReply } from "#test/emulators/shared/HostedCall.ts"
import { jsonIn } from "#test/emulators/shared/json.ts"
import { signatureOf, type WebhookKeys } from "./tokens.ts"
import { vonageWords } from "./vonageMedia.ts"
import { type CallRequest, readDocument, type VonageDestination } from "./VonageRequest.ts"

interface Ending {
  readonly status: string
  readonly detail?: string
}

interface VonageAccount extends HostedAccount {
  readonly keys: WebhookKeys
}

interface Told {
  readonly url: string
  readonly status: string
  readonly body: string
}

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

export class VonageCall extends HostedCall<Told> {
  readonly uuid: string = randomUUID()
  readonly conversationUuid = `CON-${randomUUID()}`
  readonly createdAt = Date.now()
  readonly request: CallRequest
  override readonly life: CallLife
  status = "started"
  #bill: Readonly<Record<string, string>> = {}
  readonly #account: VonageAccount
  readonly #legUuid = randomUUID()
  #socket: CallRequest["socket"]

  constructor(account: VonageAccount, request: CallRequest) {
    super(account, `+${request.to}`, placeOf)
    this.request = request
    this.#account = account
    this.#socket = request.socket
    const { from, limitSeconds, ringSeconds } = request
    this.life = account.lives.dial(
      { id: this.uuid, number: this.number, shown: `+${from}`, ringTimeoutSeconds: ringSeconds, maxSeconds: limitSeconds },
      { ringing: () => this.#move("ringing"), answered: () => this.#answered(), ended: (end) => this.endThen(() => this.#tellEnd(end)) }
    )
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
    this.restream()
    const { callee } = this.life
    const { detects } = this.request
    const isMachine = callee.kind === "answers" && callee.sound === "machine"
    if (detects !== "no") this.#tellDetected(isMachine ? "machine" : "human")
    if (detects === "beep" && isMachine) this.#tellDetected("machine", { sub_state: "beep_start" })
  }

  /** Connects to the websocket of the answer document: at the answer, and again when the call is transferred. */
  restream(): void {
    const socket = this.#socket
    if (socket === undefined) return
    this.legs.at(-1)?.end()
    this.#tellLeg("started")
    this.#tellLeg("answered")
    const onLost = () => {
      this.#tellLeg("disconnected")
      // Nothing follows the websocket in the document.
      this.life.hangUp()
    }
    this.open(this.life, { url: socket.uri, words: vonageWords, onLost }).start()
  }

  /** Follows another document, and ends the stream. Returns false if the document cannot be followed. */
  replace(document: unknown): boolean {
    const next = readDocument(document, this.request.eventUrl)
    if (next === undefined) return false
    this.endStream()
    if ("action" in next) this.#dialOther(next)
    else {
      this.#socket = next
      this.restream()
    }
    return true
  }

  /** Nothing follows in the document: when the destination hangs up, the call ends. */
  #dialOther({ endpoint: [{ number }], eventUrl: [url], from: shown, timeout: seconds }: VonageDestination): void {
    const uuid = randomUUID()
    const tell = (status: string, details: Readonly<Record<string, string>> = {}, onReply?: OnReply) =>
      this.send({ url, status, body: JSON.stringify({ ...this.#ids(status, details), from: shown, to: number, uuid }) }, onReply)
    const destination = this.#account.lives.dial(
      { id: uuid, number: `+${number}`, shown: `+${shown}`, ringTimeoutSeconds: seconds },
      {
        ringing: () => tell("ringing"),
        answered: () => tell("answered", { start_time: new Date().toISOString(), network: "" }),
        ended: (end) => {
          const { detail, status } = endingOf(end)
          const duration = String(Math.ceil((end.talkMillis ?? 0) / 1000))
          const isCurrent = this.destination === destination
          if (isCurrent) this.destination = undefined
          const isOver = status === "completed" || !isCurrent
          const isReplaced = (reply: Parameters<OnReply>[0]) => reply?.status === 200 && !isOver && this.replace(jsonIn(reply.body))
          tell(status, status === "completed" ? { duration } : detail === undefined ? {} : { detail }, (reply) => {
            if (isCurrent && this.life.state === "up" && !isReplaced(reply)) this.life.hangUp()
          })
        }
      }
    )
    this.destination = destination
    tell("started")
  }

  #tellEnd(end: CallEnd): void {
    const isTalk = end.talkMillis !== undefined
    const { detail, status } = endingOf(end)
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
    this.send({
      url: socket.eventUrl,
      status,
      body: JSON.stringify({ ...this.#ids(status, details), uuid: this.#legUuid, to: socket.uri })
    })
  }

  #tell(event: Readonly<Record<string, string>> & { readonly status: string }): void {
    this.tell({ url: this.request.eventUrl, status: event.status, body: JSON.stringify(event) })
  }

  protected send({ body, url }: Told, onReply?: OnReply): void {
    const { callbacks, keys } = this.#account
    callbacks.send(this.uuid, { url, headers: signatureOf(body, keys), body, ...(onReply === undefined ? {} : { onReply }) })
  }
}
