/** Parley as seen from the wire. The dialed number selects the callee (`shared/Callee.ts`). */
import { createHmac, randomUUID } from "node:crypto"
import type { CallEnd, CallLife } from "#test/emulators/shared/CallLife.ts"
import type { CarrierAnswer, CarrierAsk } from "#test/emulators/shared/CarrierServer.ts"
import type { Place } from "#test/emulators/shared/Disorder.ts"
import { type HostedAccount, HostedCall } from "#test/emulators/shared/HostedCall.ts"
import { HostedEmulator, started } from "#test/emulators/shared/HostedEmulator.ts"
import { audioIn, type MediaWords, parsed, type Said } from "#test/emulators/shared/MediaLeg.ts"

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
type Handover = Pick<Order, "from" | "hook" | "ringSeconds" | "to">

export const signingKey = "parley-signing-key-0001"
const token = "par_0001"
export const errorOf = (status: number, code: string): CarrierAnswer => ({ status, body: { error: { code } } })
const taken = ({ id }: ParleyCall): CarrierAnswer => ({ status: 202, body: { call: id } })

export const startParley = () => started(new ParleyEmulator({ talkMillis: 1_000 }, 1))

class ParleyEmulator extends HostedEmulator<ParleyCall> {
  readonly provider = "parley"
  readonly account = { signing_key: signingKey, token }
  readonly places = ({ method, path }: CarrierAsk) => method === "POST" && path === "/v1/calls"
  readonly transfers = ({ path }: CarrierAsk) => path.endsWith("/transfer")
  readonly hangsUp = ({ path }: CarrierAsk) => path.endsWith("/hangup")

  protected answer(ask: CarrierAsk): CarrierAnswer | Promise<CarrierAnswer> {
    if (ask.headers["authorization"] !== `Bearer ${token}`) return errorOf(401, "bad_token")
    if (ask.path === "/v1/account") return { status: 200, body: { account: "acme" } }
    if (this.places(ask)) return this.#place(ask)
    const [, , , id = "", verb] = ask.path.split("/").map(decodeURIComponent)
    const reference = ask.query.get("reference")
    const call = this.calls.get(id) ?? [...this.calls.values()].find(({ order }) => order.reference === reference)
    if (call === undefined) return errorOf(404, "no_call")
    if (ask.method === "GET") return { status: 200, body: call.record() }
    if (call.life.state === "ended") return errorOf(409, "over")
    if (verb === "transfer" && call.life.state !== "up") return errorOf(409, "not_up")
    if (verb === "transfer") call.transfer(JSON.parse(ask.body) as Handover)
    else if (verb === "keys") this.log.press(call.id, /"digits":"([^"]*)"/.exec(ask.body)?.[1] ?? "")
    else call.hangUp()
    return taken(call)
  }

  async #place({ body }: CarrierAsk): Promise<CarrierAnswer> {
    // The cast holds for what the adapter under test sends.
    const call = new ParleyCall(this, JSON.parse(body) as Order)
    this.calls.set(call.id, call)
    await call.placed
    return { ...taken(call), status: 201 }
  }
}

interface Told {
  readonly body: string
  readonly place: Place
}

class ParleyCall extends HostedCall<Told> {
  readonly id = `pc_${randomUUID()}`
  readonly order: Order
  override readonly life: CallLife
  readonly #account: HostedAccount
  #facts: Readonly<Record<string, unknown>> = { state: "dialing" }

  constructor(account: HostedAccount, order: Order) {
    super(account, order.to, ({ place }) => place)
    this.#account = account
    this.order = order
    const { from, maxSeconds, ringSeconds, to } = order
    this.life = account.lives.dial(
      { id: this.id, maxSeconds, number: to, ringTimeoutSeconds: ringSeconds, shown: from },
      {
        answered: () => this.#answered(),
        ended: (end) => this.endThen(() => this.#tellEnd(end)),
        ringing: () => this.#tell("before", { state: "ringing" })
      }
    )
  }

  record(): object {
    return { ...this.#facts, call: this.id, reference: this.order.reference }
  }

  /** The stream continues meanwhile. */
  transfer({ from, hook, ringSeconds, to }: Handover): void {
    const tell = (facts: object) =>
      this.send({ body: JSON.stringify({ call: this.record(), event: randomUUID(), transfer: facts }), place: "before" }, hook)
    this.destination = this.#account.lives.dial(
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
  }

  #answered(): void {
    this.#tell("answer", { answeredAt: Date.now(), state: "talking" })
    const { callee } = this.life
    if (callee.kind !== "answers") return
    if (this.order.listens) this.#tell("before", { heard: callee.sound === "machine" ? "machine" : "person" })
    this.open(this.life, { url: this.order.stream, words: wordsOf(this.id), onLost: () => {} }).start()
  }

  #tellEnd({ by, ending, talkMillis }: CallEnd): void {
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

  #tell(place: Place, facts: object): void {
    this.#facts = { ...this.#facts, ...facts }
    this.tell({ body: JSON.stringify({ call: this.record(), event: randomUUID() }), place })
  }

  protected send({ body }: Told, url = this.order.hook): void {
    const time = Math.floor(Date.now() / 1000)
    const signature = createHmac("sha256", signingKey).update(`${time}.${url}.${body}`).digest("hex")
    this.#account.callbacks.send(this.id, {
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
