/**
 * Vonage's Voice API v1 and what belongs to it (numbers, applications) as seen from the wire, on a real port of the loopback interface. The number
 * that is dialed selects the callee (`shared/Callee.ts`), the callees' log records what they saw, and numbers that begin with +999 are invalid.
 */
import { generateKeyPairSync, randomUUID } from "node:crypto"
import { CallbackSender } from "#test/emulators/shared/CallbackSender.ts"
import { CalleeLog, preciseNow } from "#test/emulators/shared/CalleeLog.ts"
import { CallLives } from "#test/emulators/shared/CallLife.ts"
import { type CarrierAsk, CarrierServer } from "#test/emulators/shared/CarrierServer.ts"
import { nonceOf, signatureOf, type WebhookKeys } from "./tokens.ts"
import { VonageApplications } from "./VonageApplications.ts"
import { type Telling, VonageCall } from "./VonageCall.ts"
import { type ErrorKind, errorOf, type VonageAnswer } from "./VonageErrors.ts"
import { documentIn, isObject, jsonIn, readRequest } from "./VonageRequest.ts"

interface VonageOptions {
  readonly numbers: ReadonlyArray<string>
  /** 0.1 is ten times faster; audio stays in real time. */
  readonly timeScale?: number
  readonly ringMillis?: number
  readonly talkMillis?: number
  /** How many requests for a call are accepted per second, and how many other requests. */
  readonly callsPerSecond?: number
  readonly requestsPerSecond?: number
  /** How many entries there are on one page of a list. */
  readonly pageSize?: number
}

const LARGEST_PAGE = 100

export const placesCall = ({ method, path }: CarrierAsk): boolean => method === "POST" && path === "/v1/calls"
export const hangsUp = ({ body, method }: CarrierAsk): boolean => method === "PUT" && body.includes('"hangup"')

export const transfersCall = ({ body, method }: CarrierAsk): boolean => method === "PUT" && body.includes('"transfer"')

export const startVonageEmulator = async (options: VonageOptions): Promise<VonageEmulator> => {
  const emulator = new VonageEmulator(options)
  await emulator.server.listen()
  return emulator
}

class VonageEmulator {
  readonly apiKey = "a1b2c3d4"
  readonly apiSecret = "Vonage-Secret-01"
  readonly applicationId: string = randomUUID()
  /** The applications that were created through the API. */
  readonly applications = new VonageApplications()
  readonly keys: WebhookKeys
  readonly log = new CalleeLog()
  readonly lives: CallLives
  /** Events are sent only once. */
  readonly callbacks = new CallbackSender({ retries: 0 })
  readonly server = new CarrierServer((ask) => this.#answer(ask))
  readonly calls = new Map<string, VonageCall>()
  readonly telling: Telling
  /** False: the balance is used up. */
  hasCredit = true
  /** Errors have the form that precedes RFC 7807. */
  hasOldErrors = false
  /** The status of the reply to a command for a call that has ended. */
  endedStatus: 400 | 404 = 404
  /** Whether the application has its webhooks signed. */
  signsCallbacks = true
  #pair = generateKeyPairSync("rsa", { modulusLength: 2048 })
  readonly #options: VonageOptions
  readonly #nonces = new Set<string>()
  #dialedAt: Array<number> = []
  #askedAt: Array<number> = []

  constructor(options: VonageOptions) {
    const { ringMillis = 100, talkMillis = 300, timeScale: scale = 1 } = options
    this.#options = options
    const signatureSecret = "vonage-signature-secret-0000000000000001"
    this.keys = { apiKey: this.apiKey, applicationId: this.applicationId, signatureSecret }
    this.lives = new CallLives(this.log, { ringMillis, scale, talkMillis })
    this.telling = { callbacks: this.callbacks, completesAll: false, endMillis: 0, ending: undefined, keys: this.keys }
  }

  get url(): string {
    return this.server.url
  }

  /** The private key as it is downloaded from the dashboard: PKCS#8 in PEM. */
  get privateKey(): string {
    return this.#pair.privateKey.export({ format: "pem", type: "pkcs8" }).toString()
  }

  /** Makes a new key: the one that was downloaded before is no longer valid. */
  replaceKey(): void {
    this.#pair = generateKeyPairSync("rsa", { modulusLength: 2048 })
  }

  /** The headers of a webhook with this body. */
  signature(body: string, more: { readonly at?: number; readonly jti?: string } = {}): Readonly<Record<string, string>> {
    return signatureOf(body, this.keys, more)
  }

  /** The requests for calls that arrived, whatever their results. */
  dials(): ReadonlyArray<CarrierAsk> {
    return this.server.requests.filter(placesCall)
  }

  callsTo(number: string): ReadonlyArray<VonageCall> {
    return [...this.calls.values()].filter(({ request }) => `+${request.to}` === number)
  }

  async stop(): Promise<void> {
    for (const { life } of this.calls.values()) life.hangUp()
    this.callbacks.lose()
    await this.server.stop()
  }

  async #answer(ask: CarrierAsk): Promise<VonageAnswer> {
    const [, version, resource, id, more = ""] = ask.path.split("/").map(decodeURIComponent)
    const what = `${ask.method} ${version}/${resource}${id === undefined ? "" : "/:id"}${more === "" ? "" : `/${more}`}`
    const isBasic = version === "account" || version === "v2"
    if (!(isBasic ? this.#hasSecret(ask) : await this.#hasToken(ask))) return this.#error(401, "unauthorized")
    if (!this.#isInTime(what === "POST v1/calls")) return this.#error(429, "throttled")
    switch (what) {
      case "POST v1/calls":
        return this.#place(ask)
      case "GET v1/calls":
        return { status: 200, body: this.#list(ask.query) }
      case "GET v1/calls/:id":
        return this.#withCall(id, (call) => ({ status: 200, body: call.record() }))
      case "PUT v1/calls/:id":
        return this.#withCall(id, (call) => this.#modify(call, ask.body))
      case "PUT v1/calls/:id/dtmf":
        return this.#withCall(id, (call) => this.#press(call, ask.body))
      case "GET account/numbers":
        return { status: 200, body: this.#numbers(ask.query) }
      case "GET v2/applications/:id":
        return this.#applicationOf(id)
      case "GET v2/applications":
        return { status: 200, body: this.applications.page(ask.query) }
      case "POST v2/applications":
        return { status: 201, body: this.applications.create(ask.body) }
      default:
        return this.#error(404, "not-found")
    }
  }

  #error(status: number, kind: ErrorKind, parameter?: string): VonageAnswer {
    return errorOf(status, kind, parameter, this.hasOldErrors)
  }

  #applicationOf(id: string | undefined): VonageAnswer {
    const application = id === this.applicationId ? this.#application() : this.applications.find(id)
    return application === undefined ? this.#error(404, "not-found") : { status: 200, body: application }
  }

  #hasSecret({ headers }: CarrierAsk): boolean {
    return headers["authorization"] === `Basic ${Buffer.from(`${this.apiKey}:${this.apiSecret}`).toString("base64")}`
  }

  /** A token is valid for one request. */
  async #hasToken({ headers }: CarrierAsk): Promise<boolean> {
    const nonce =
      (await nonceOf(headers["authorization"] ?? "", this.#pair.publicKey, this.applicationId)) ??
      (await this.applications.nonceOf(headers["authorization"] ?? ""))
    if (nonce === undefined || this.#nonces.has(nonce)) return false
    this.#nonces.add(nonce)
    return true
  }

  #isInTime(places: boolean): boolean {
    const now = preciseNow()
    const recent = (places ? this.#dialedAt : this.#askedAt).filter((at) => now - at < 1000)
    const { callsPerSecond = 3, requestsPerSecond = 15 } = this.#options
    const most = places ? callsPerSecond : requestsPerSecond
    const isInTime = recent.length < most
    if (isInTime) recent.push(now)
    if (places) this.#dialedAt = recent
    else this.#askedAt = recent
    return isInTime
  }

  async #place({ body, headers }: CarrierAsk): Promise<VonageAnswer> {
    const request = readRequest(headers["content-type"] ?? "", body)
    if (typeof request === "string") return this.#error(400, "invalid", request)
    if (!this.#options.numbers.includes(`+${request.from}`)) return this.#error(400, "invalid", "from")
    if (!this.hasCredit) return this.#error(403, "out-of-credit")
    const call = new VonageCall(request, this.lives, this.telling)
    this.calls.set(call.uuid, call)
    const { conversationUuid: conversation_uuid, uuid } = call
    await call.placed
    return { status: 201, body: { uuid, status: "started", direction: "outbound", conversation_uuid } }
  }

  #modify(call: VonageCall, text: string): VonageAnswer {
    const { life } = call
    const body = jsonIn(text)
    if (isObject(body) && body["action"] === "transfer") {
      if (life.state !== "up") return this.#error(this.endedStatus, this.endedStatus === 404 ? "not-found" : "invalid")
      return call.replace(documentIn(body)) ? { status: 204 } : this.#error(400, "invalid", "destination")
    }
    if (!isObject(body) || body["action"] !== "hangup") return this.#error(400, "invalid", "action")
    return life.hangUp() ? { status: 204 } : this.#error(this.endedStatus, this.endedStatus === 404 ? "not-found" : "invalid")
  }

  #press({ life, uuid }: VonageCall, text: string): VonageAnswer {
    const body = jsonIn(text)
    const digits = isObject(body) ? body["digits"] : undefined
    if (typeof digits !== "string" || !/^[0-9*#p]+$/.test(digits)) return this.#error(400, "invalid", "digits")
    if (life.state !== "up") return this.#error(404, "not-found")
    this.log.press(uuid, digits)
    return { status: 200, body: { message: "DTMF sent", uuid } }
  }

  #withCall(id: string | undefined, use: (call: VonageCall) => VonageAnswer): VonageAnswer {
    const call = this.calls.get(id ?? "")
    return call === undefined ? this.#error(404, "not-found") : use(call)
  }

  #list(query: URLSearchParams): object {
    const since = Date.parse(query.get("date_start") ?? "1970-01-01T00:00:00Z")
    const record_index = Number(query.get("record_index") ?? 0)
    const page_size = Math.min(Number(query.get("page_size") ?? 10), this.#options.pageSize ?? LARGEST_PAGE)
    const found = [...this.calls.values()].filter(({ createdAt }) => createdAt >= since)
    const calls = found.slice(record_index, record_index + page_size).map((call) => call.record())
    return { count: found.length, page_size, record_index, _links: { self: { href: "/v1/calls" } }, _embedded: { calls } }
  }

  #numbers(query: URLSearchParams): object {
    const size = Math.min(Number(query.get("size") ?? 10), this.#options.pageSize ?? LARGEST_PAGE)
    const first = (Number(query.get("index") ?? 1) - 1) * size
    const all = [
      { country: "US", msisdn: "15550008000", type: "mobile-lvn", features: ["SMS"] },
      ...this.#options.numbers.map((number) => ({ country: "US", msisdn: number.slice(1), type: "mobile-lvn", features: ["SMS", "VOICE"] }))
    ]
    return { count: all.length, numbers: all.slice(first, first + size) }
  }

  #application(): object {
    const voice = { webhooks: {}, signed_callbacks: this.signsCallbacks }
    return { id: this.applicationId, name: "trunkline", capabilities: { voice }, keys: {} }
  }
}
