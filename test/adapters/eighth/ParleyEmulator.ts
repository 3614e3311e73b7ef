/** Parley as seen from the wire. The dialed number selects the callee (`shared/Callee.ts`). */
import { createHmac, randomUUID } from "node:crypto"
import { CallbackSender } from "#test/emulators/shared/CallbackSender.ts"
import { CalleeLog } from "#test/emulators/shared/CalleeLog.ts"
import { type CallEnd, CallLives } from "#test/emulators/shared/CallLife.ts"
import { type CarrierAsk, CarrierServer } from "#test/emulators/shared/CarrierServer.ts"
import { Disorder } from "#test/emulators/shared/Disorder.ts"
import { audioIn, MediaLeg, type MediaWords, parsed, type Said } from "#test/emulators/shared/MediaLeg.ts"

interface Answer {
  readonly status: number
  readonly body: unknown
}
interface Order {
  readonly from: string
  readonly hook: string
  readonly listens: boolean
  readonly maxSeconds: number
  readonly reference: string
  readonly ringSeconds: number
  readonly stream: string
  readonly to: string
}
interface Handover {
  readonly from: string
  readonly hook: string
  readonly ringSeconds: number
  readonly to: string
}
interface Told {
  readonly body: string
  readonly place: "before" | "answer" | "ending" | "end"
}

export const account = { signingKey: "parley-signing-key-0001", token: "par_0001" }
export const errorOf = (status: number, code: string): Answer => ({ status, body: { error: { code } } })
export const transfersCall = ({ path }: CarrierAsk): boolean => path.endsWith("/transfer")
export const placesCall = ({ method, path }: CarrierAsk): boolean => method === "POST" && path === "/v1/calls"

export class ParleyEmulator {
  readonly log = new CalleeLog()
  readonly callbacks = new CallbackSender()
  readonly server = new CarrierServer((ask) => this.#answer(ask))
  readonly #lives = new CallLives(this.log, { talkMillis: 1_000 })
  readonly #calls = new Map<string, ParleyCall>()

  static async start(): Promise<ParleyEmulator> {
    const emulator = new ParleyEmulator()
    await emulator.server.listen()
    return emulator
  }

  async stop(): Promise<void> {
    for (const { life } of this.#calls.values()) life.hangUp()
    this.callbacks.lose()
    await this.server.stop()
  }

  #answer(ask: CarrierAsk): Answer | Promise<Answer> {
    if (ask.headers["authorization"] !== `Bearer ${account.token}`) return errorOf(401, "bad_token")
    if (ask.path === "/v1/account") return { status: 200, body: { account: "acme" } }
    if (placesCall(ask)) return this.#place(ask)
    const [, , , id = "", verb] = ask.path.split("/").map(decodeURIComponent)
    const reference = ask.query.get("reference")
    const call = this.#calls.get(id) ?? [...this.#calls.values()].find(({ order }) => order.reference === reference)
    if (call === undefined) return errorOf(404, "no_call")
    if (ask.method === "GET") return { status: 200, body: call.record() }
    if (call.life.state === "ended") return errorOf(409, "over")
    if (verb === "transfer") return call.life.state === "up" ? call.transfer(JSON.parse(ask.body) as Handover) : errorOf(409, "not_up")
    if (verb === "keys") this.log.press(call.id, /"digits":"([^"]*)"/.exec(ask.body)?.[1] ?? "")
    else call.life.hangUp()
    return { status: 202, body: { call: call.id } }
  }

  async #place({ body }: CarrierAsk): Promise<Answer> {
    // The cast holds for what the adapter under test sends.
    const order = JSON.parse(body) as Order
    const call = new ParleyCall(order, this.#lives, this.callbacks)
    this.#calls.set(call.id, call)
    await call.mayReply
    return { status: 201, body: { call: call.id } }
  }
}

class ParleyCall {
  readonly id = `pc_${randomUUID()}`
  readonly order: Order
  readonly life: ReturnType<CallLives["dial"]>
  readonly mayReply: Promise<void>
  readonly #sender: CallbackSender
  readonly #disorder: Disorder<Told> | undefined
  #facts: Readonly<Record<string, unknown>> = { state: "dialing" }
  #leg: MediaLeg | undefined
  /** The destination that is connected to the callee, or is being dialed for them. */
  #dialed: ReturnType<CallLives["dial"]> | undefined
  readonly #lives: CallLives

  constructor(order: Order, lives: CallLives, sender: CallbackSender) {
    this.order = order
    this.#lives = lives
    this.#sender = sender
    const { from, maxSeconds, ringSeconds, to } = order
    this.life = lives.dial(
      { id: this.id, maxSeconds, number: to, ringTimeoutSeconds: ringSeconds, shown: from },
      {
        answered: () => this.#answered(),
        ended: (end) => this.#ended(end),
        ringing: () => this.#tell("before", { state: "ringing" })
      }
    )
    const { callee } = this.life
    const isDisorderly = callee.kind === "answers" && callee.disorderly === true
    this.#disorder = isDisorderly
      ? new Disorder(
          (told) => this.#send(told),
          ({ place }) => place
        )
      : undefined
    this.mayReply = this.#disorder?.answered ?? Promise.resolve()
  }

  record(): object {
    return { ...this.#facts, call: this.id, reference: this.order.reference }
  }

  /** The stream continues meanwhile. */
  transfer({ from, hook, ringSeconds, to }: Handover): Answer {
    const tell = (facts: object) =>
      this.#send({ body: JSON.stringify({ call: this.record(), event: randomUUID(), transfer: facts }), place: "before" }, hook)
    this.#dialed = this.#lives.dial(
      { id: `pc_${randomUUID()}`, number: to, ringTimeoutSeconds: ringSeconds, shown: from },
      {
        answered: () => tell({ state: "talking" }),
        ended: ({ by, ending, talkMillis }) => {
          if (talkMillis === undefined) tell({ endedBy: by === "us" ? "caller" : by, sip: ending?.sipStatus, state: "over" })
          else this.life.hangUp()
        },
        ringing: () => {}
      }
    )
    return { status: 202, body: { call: this.id } }
  }

  #answered(): void {
    this.#tell("answer", { answeredAt: Date.now(), state: "talking" })
    const { callee } = this.life
    if (callee.kind !== "answers") return
    if (this.order.listens) this.#tell("before", { heard: callee.sound === "machine" ? "machine" : "person" })
    this.#leg = new MediaLeg({
      callee,
      id: this.id,
      log: this.#lives.log,
      onLost: () => {},
      url: this.order.stream,
      words: wordsOf(this.id),
      pressMillis: 20,
      onPressedAll: () => this.life.pressedAll()
    })
    this.#leg.start()
  }

  #ended({ by, ending, talkMillis }: CallEnd): void {
    this.#leg?.end()
    this.#dialed?.hangUp()
    const sip = talkMillis === undefined ? ending?.sipStatus : undefined
    const price = talkMillis === undefined ? {} : { price: { amount: "0.0100", currency: "EUR" } }
    this.#tell("end", {
      endedBy: by === "us" ? "caller" : by,
      overAt: Date.now(),
      state: "over",
      ...price,
      ...(sip === undefined ? {} : { sip })
    })
  }

  #tell(place: Told["place"], facts: object): void {
    this.#facts = { ...this.#facts, ...facts }
    const told = { body: JSON.stringify({ call: this.record(), event: randomUUID() }), place }
    if (this.#disorder === undefined) this.#send(told)
    else this.#disorder.add(told)
  }

  #send({ body }: Told, url = this.order.hook): void {
    const time = Math.floor(Date.now() / 1000)
    const signature = createHmac("sha256", account.signingKey).update(`${time}.${url}.${body}`).digest("hex")
    this.#sender.send(this.id, {
      body,
      headers: { "content-type": "application/json", "parley-signature": `t=${time},v1=${signature}` },
      url
    })
  }
}

const wordsOf = (stream: string): MediaWords => ({
  audio: (frame, chunk) => ({ event: "media", media: { chunk, payload: frame.toString("base64"), track: "inbound" }, stream }),
  cleared: () => [],
  played: (id) => ({ event: "mark", id, stream }),
  press: (digit) => ({ dtmf: { digit }, event: "dtmf", stream }),
  read: (data, isBinary): Said | undefined => {
    const message = parsed(data, isBinary)
    const { event, id, media } = message ?? {}
    if (event === "hush") return { _tag: "Clear" }
    if (event === "mark" && typeof id === "string") return { _tag: "Mark", name: id }
    return event === "media" && media instanceof Object ? audioIn(Reflect.get(media, "payload")) : undefined
  },
  start: () => ({ event: "start", stream }),
  stop: () => ({ event: "stop", stream })
})
