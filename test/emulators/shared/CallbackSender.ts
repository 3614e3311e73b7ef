/**
 * Sends a carrier's callbacks: those of one call one after the other, unless told otherwise. On demand it repeats them, holds them, or delivers them in
 * reverse order, late, or in any order. Callbacks are signed when they are made, like the retries of a real carrier.
 */
import { request } from "node:http"
import { setTimeout as sleep } from "node:timers/promises"
import { preciseNow } from "./CalleeLog.ts"

interface OutgoingCallback {
  readonly url: string
  readonly method?: "GET" | "POST"
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
  /** How long to wait before each retry; by default, there is no wait. */
  readonly retryMillis?: ReadonlyArray<number>
  /** Called with the reply to each copy; undefined: there was none. */
  readonly onReply?: (reply: CallbackReply | undefined) => void
}

interface CallbackReply {
  readonly status: number
  readonly mediaType: string
  readonly body: string
}

interface CallbackDelivery extends Omit<OutgoingCallback, "onReply" | "retryMillis"> {
  readonly at: number
  /** Undefined: there was no reply. */
  readonly status: number | undefined
  readonly reply: string
}

/** How one callback is sent, whatever else is under way. */
interface Sending {
  /** When each copy is sent, in milliseconds from now. */
  readonly after: ReadonlyArray<number>
  /** Whether one more copy follows the last, with another body under the same signature. */
  readonly isAltered: boolean
}

interface SenderOptions {
  /** How often a callback is sent again after a 5xx or no reply. */
  readonly retries?: number
  readonly timeoutMillis?: number
}

export class CallbackSender {
  /** Every request that was sent, repeats and retries included, once it has its reply. */
  readonly deliveries: Array<CallbackDelivery> = []
  /** How often each callback is sent. */
  copies = 1
  /** How long the sender waits for a reply. */
  timeoutMillis: number
  /** Each callback waits this long before it is sent. */
  delayMillis = 0
  /** Called for each callback; undefined: they are sent one after the other. */
  plan: (() => Sending) | undefined
  /** The altered copies. */
  readonly alterations: Array<CallbackDelivery> = []
  readonly #scattered = new Set<Promise<unknown>>()
  readonly #retries: number
  /** The end of the queue of each call. */
  readonly #queues = new Map<string, Promise<void>>()
  /** Undefined while nothing is held. */
  #held: Array<() => void> | undefined
  #sendsDocuments = false

  constructor({ retries = 1, timeoutMillis = 15_000 }: SenderOptions = {}) {
    this.#retries = retries
    this.timeoutMillis = timeoutMillis
  }

  /** `call`: the call that the callback is about. */
  send(call: string, callback: OutgoingCallback): void {
    if (this.plan !== undefined) return this.#scatter(callback, this.plan())
    const enqueue = () => {
      for (let copy = 0; copy < this.copies; copy++) this.#enqueue(call, callback)
    }
    const isSent = this.#held === undefined || (this.#sendsDocuments && callback.onReply !== undefined)
    if (isSent) enqueue()
    else this.#held?.push(enqueue)
  }

  /** Holds all callbacks from now on, until `release`. `sendsDocuments`: not the requests for documents, which the carrier itself waits for. */
  hold({ sendsDocuments = false } = {}): void {
    this.#held ??= []
    this.#sendsDocuments = sendsDocuments
  }

  held(): number {
    return this.#held?.length ?? 0
  }

  release(order: "kept" | "reversed" = "kept"): void {
    const held = this.#held ?? []
    this.#held = undefined
    for (const enqueue of order === "kept" ? held : held.toReversed()) enqueue()
  }

  /** Drops the held callbacks, which are lost. */
  lose(): void {
    this.#held = undefined
  }

  /** Resolves when all callbacks so far have been sent. */
  async settled(): Promise<void> {
    await Promise.all([...this.#queues.values(), ...this.#scattered])
  }

  #scatter(callback: OutgoingCallback, { after, isAltered }: Sending): void {
    const copies = after.map(async (millis, copy) => {
      // The carrier waits for a document, so it requests it at once; only repeats are delayed.
      await sleep(copy === 0 && callback.onReply !== undefined ? 0 : millis, undefined, { ref: false })
      await this.#deliver(callback)
    })
    const all = Promise.all(copies).then(async () => {
      if (!isAltered) return
      const { onReply: _, retryMillis: __, ...altered } = { ...callback, body: `${callback.body} ` }
      const [at, answer] = [preciseNow(), await post(altered, this.timeoutMillis)]
      this.alterations.push({ ...altered, at, status: answer?.status, reply: answer?.body ?? "" })
    })
    this.#scattered.add(all)
  }

  #enqueue(call: string, callback: OutgoingCallback): void {
    const before = this.#queues.get(call) ?? Promise.resolve()
    const { delayMillis } = this
    const after = before.then(async () => {
      if (delayMillis > 0) await sleep(delayMillis)
      await this.#deliver(callback)
    })
    this.#queues.set(call, after)
  }

  async #deliver({ onReply, retryMillis = [], ...callback }: OutgoingCallback): Promise<void> {
    let answer: CallbackReply | undefined
    for (let attempt = 0; attempt <= this.#retries; attempt++) {
      const at = preciseNow()
      answer = await post(callback, this.timeoutMillis)
      this.deliveries.push({ ...callback, at, status: answer?.status, reply: answer?.body ?? "" })
      if (answer !== undefined && answer.status < 500) break
      await sleep(retryMillis[attempt] ?? 0, undefined, { ref: false })
    }
    onReply?.(answer)
  }
}

/** Undefined: there was no reply. The fragment of the address is meant for the carrier and is not sent. */
const post = ({ body, headers, method = "POST", url }: OutgoingCallback, timeoutMillis: number) =>
  new Promise<CallbackReply | undefined>((resolve) => {
    const none = () => resolve(undefined)
    const outgoing = request(url, { agent: false, method, headers, timeout: timeoutMillis }, (response) => {
      const parts: Array<Buffer> = []
      response.on("data", (part: Buffer) => parts.push(part))
      response.on("end", () => {
        const { headers, statusCode: status = 0 } = response
        resolve({ status, mediaType: headers["content-type"] ?? "", body: Buffer.concat(parts).toString() })
      })
      response.on("error", none)
    })
    outgoing.on("timeout", () => outgoing.destroy())
    outgoing.on("error", none)
    outgoing.on("close", none)
    outgoing.end(method === "GET" ? undefined : body)
  })
