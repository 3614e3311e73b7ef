/**
 * Vonage's Voice API v1 and what belongs to it (numbers, applications), and its signed webhooks. Numbers that begin with +999 are invalid.
 */
import { generateKeyPairSync, randomUUID } from "node:crypto"
import { AcceptWindow } from "#test/emulators/shared/AcceptWindow.ts"
import type { CarrierAnswer, CarrierAsk } from "#test/emulators/shared/CarrierServer.ts"
import { HostedEmulator, type HostedOptions, started } from "#test/emulators/shared/HostedEmulator.ts"
import { isObject, jsonIn } from "#test/emulators/shared/json.ts"
import { nonceOf, signatureOf } from "./tokens.ts"
import { VonageApplications } from "./VonageApplications.ts"
import { VonageCall } from "./VonageCall.ts"
import { errorOf } from "./VonageErrors.ts"
import { documentIn, readRequest } from "./VonageRequest.ts"

interface VonageOptions extends HostedOptions {
  /** How many requests for a call are accepted per second, and how many other requests. */
  readonly callsPerSecond?: number
  readonly requestsPerSecond?: number
  /** How many entries there are on one page of a list. */
  readonly pageSize?: number
}

const LARGEST_PAGE = 100

export const startVonageEmulator = (options: VonageOptions) => started(new VonageEmulator(options))

class VonageEmulator extends HostedEmulator<VonageCall> {
  readonly provider = "vonage"
  readonly places = ({ method, path }: CarrierAsk) => method === "POST" && path === "/v1/calls"
  readonly transfers = ({ body, method }: CarrierAsk) => method === "PUT" && body.includes('"transfer"')
  readonly hangsUp = ({ body, method }: CarrierAsk) => method === "PUT" && body.includes('"hangup"')
  readonly apiKey = "a1b2c3d4"
  readonly apiSecret = "Vonage-Secret-01"
  readonly applicationId: string = randomUUID()
  /** The applications that were created through the API. */
  readonly applications = new VonageApplications()
  readonly keys = {
    apiKey: this.apiKey,
    applicationId: this.applicationId,
    signatureSecret: "vonage-signature-secret-0000000000000001"
  }
  /** False: the balance is used up. */
  hasCredit = true
  /** The status of the reply to a command for a call that has ended. */
  endedStatus: 400 | 404 = 404
  /** Whether the application has its webhooks signed. */
  signsCallbacks = true
  #pair = generateKeyPairSync("rsa", { modulusLength: 2048 })
  readonly #options: VonageOptions
  readonly #nonces = new Set<string>()
  readonly #dials = new AcceptWindow()
  readonly #others = new AcceptWindow()

  constructor(options: VonageOptions) {
    // Events are sent only once.
    super(options, 0)
    this.#options = options
  }

  get account() {
    return {
      application_id: this.applicationId,
      private_key: this.privateKey,
      api_key: this.apiKey,
      api_secret: this.apiSecret,
      signature_secret: this.keys.signatureSecret
    }
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

  readonly callsTo = (number: string) => this.to(number)

  protected async answer(ask: CarrierAsk): Promise<CarrierAnswer> {
    const [, version, resource, id, more = ""] = ask.path.split("/").map(decodeURIComponent)
    const what = `${ask.method} ${version}/${resource}${id === undefined ? "" : "/:id"}${more === "" ? "" : `/${more}`}`
    const isBasic = version === "account" || version === "v2"
    if (!(isBasic ? this.#hasSecret(ask) : await this.#hasToken(ask))) return errorOf(401, "unauthorized")
    if (!this.#isInTime(what)) return errorOf(429, "throttled")
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
        return errorOf(404, "not-found")
    }
  }

  #applicationOf(id: string | undefined): CarrierAnswer {
    const application = id === this.applicationId ? this.#application() : this.applications.find(id)
    return application === undefined ? errorOf(404, "not-found") : { status: 200, body: application }
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

  #isInTime(what: string): boolean {
    const { callsPerSecond = 3, requestsPerSecond = 15 } = this.#options
    return what === "POST v1/calls" ? this.#dials.accepts(callsPerSecond, 1000) : this.#others.accepts(requestsPerSecond, 1000)
  }

  async #place({ body, headers }: CarrierAsk): Promise<CarrierAnswer> {
    const request = readRequest(headers["content-type"] ?? "", body)
    if (typeof request === "string") return errorOf(400, "invalid", request)
    if (!this.numbers.includes(`+${request.from}`)) return errorOf(400, "invalid", "from")
    if (!this.hasCredit) return errorOf(403, "out-of-credit")
    const call = new VonageCall(this, request)
    this.calls.set(call.uuid, call)
    const { conversationUuid: conversation_uuid, uuid } = call
    await call.placed
    return { status: 201, body: { uuid, status: "started", direction: "outbound", conversation_uuid } }
  }

  #modify(call: VonageCall, text: string): CarrierAnswer {
    const { life } = call
    const body = jsonIn(text)
    const action = isObject(body) ? body["action"] : undefined
    const over = () => errorOf(this.endedStatus, this.endedStatus === 404 ? "not-found" : "invalid")
    if (action === "hangup") return life.hangUp() ? { status: 204 } : over()
    if (!isObject(body) || action !== "transfer") return errorOf(400, "invalid", "action")
    if (life.state !== "up") return over()
    return call.replace(documentIn(body)) ? { status: 204 } : errorOf(400, "invalid", "destination")
  }

  #press({ life, uuid }: VonageCall, text: string): CarrierAnswer {
    const body = jsonIn(text)
    const digits = isObject(body) ? body["digits"] : undefined
    if (typeof digits !== "string" || !/^[0-9*#p]+$/.test(digits)) return errorOf(400, "invalid", "digits")
    if (life.state !== "up") return errorOf(404, "not-found")
    this.log.press(uuid, digits)
    return { status: 200, body: { message: "DTMF sent", uuid } }
  }

  #withCall(id: string | undefined, use: (call: VonageCall) => CarrierAnswer): CarrierAnswer {
    const call = this.calls.get(id ?? "")
    return call === undefined ? errorOf(404, "not-found") : use(call)
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
      ...this.numbers.map((number) => ({ country: "US", msisdn: number.slice(1), type: "mobile-lvn", features: ["SMS", "VOICE"] }))
    ]
    return { count: all.length, numbers: all.slice(first, first + size) }
  }

  #application(): object {
    const voice = { webhooks: {}, signed_callbacks: this.signsCallbacks }
    return { id: this.applicationId, name: "trunkline", capabilities: { voice }, keys: {} }
  }
}
