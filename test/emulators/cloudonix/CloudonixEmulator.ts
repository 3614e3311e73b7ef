/** Cloudonix' REST API and its callbacks. Numbers that begin with +999 are invalid. */
import { randomBytes, randomUUID } from "node:crypto"
import type { CarrierAnswer, CarrierAsk } from "#test/emulators/shared/CarrierServer.ts"
import { HostedEmulator, type HostedOptions, started } from "#test/emulators/shared/HostedEmulator.ts"
import { jsonIn } from "#test/emulators/shared/json.ts"
import { CloudonixSession, type Domain } from "./CloudonixSession.ts"
import { documentIn } from "./cxml.ts"
import { errorOf, readOrder } from "./orders.ts"

interface CloudonixOptions extends HostedOptions {
  /** How many requests of any kind are accepted within `windowMillis`, which is ten seconds by default. */
  readonly requests?: number
  readonly windowMillis?: number
}

export const startCloudonixEmulator = (options: CloudonixOptions = {}) => started(new CloudonixEmulator(options))

class CloudonixEmulator extends HostedEmulator<CloudonixSession> {
  readonly provider = "cloudonix"
  readonly apiKey = `XI${randomBytes(16).toString("hex").toUpperCase()}`
  readonly domain: Domain = {
    name: "acme.cloudonix.net",
    id: 3,
    recordUrl: undefined,
    recordSays: undefined,
    hasCallbacks: true,
    hasCredit: true
  }
  readonly account = { bearer_token: this.apiKey, domain_id: this.domain.name }
  readonly places = ({ method, path }: CarrierAsk) => method === "POST" && /^\/calls\/[^/]+\/application$/.test(path)
  /** It replaces the document of the call. */
  readonly transfers = ({ method, path }: CarrierAsk) => method === "POST" && /\/sessions\/[^/]+\/application$/.test(path)
  readonly hangsUp = ({ method }: CarrierAsk) => method === "DELETE"
  readonly sessions = this.calls
  /** The status of the reply to a hang-up that is carried out. */
  hangupStatus: 200 | 204 = 204
  readonly #options: CloudonixOptions
  #askedAt: Array<number> = []

  constructor(options: CloudonixOptions) {
    // It is not documented whether Cloudonix repeats a failed callback.
    super(options, 0)
    this.#options = options
  }

  readonly sessionsTo = (number: string) => this.to(number)

  protected answer(ask: CarrierAsk): CarrierAnswer | Promise<CarrierAnswer> {
    if (this.#isTooOften(ask.at)) return errorOf(429, "Too many requests")
    if (ask.headers["authorization"] !== `Bearer ${this.apiKey}`) return errorOf(401, "Unauthorized")
    const [, domain, rest = ""] = /^\/(?:calls|customers\/self\/domains)\/([^/]+)(\/.*)?$/.exec(ask.path) ?? []
    if (domain !== this.domain.name) return errorOf(404, "Domain not found")
    const [, token, verb = ""] = /^\/sessions\/([^/]+)(\/application)?$/.exec(rest) ?? []
    if (token !== undefined) return this.#withSession(`${ask.method}${verb}`, decodeURIComponent(token), ask.body)
    switch (`${ask.method} ${rest}`) {
      case "POST /application":
        return this.#place(ask)
      case "GET /sessions":
        return { status: 200, body: this.#live() }
      case "GET /dnids":
        return { status: 200, body: this.numbers.map((number, id) => ({ id, source: number, active: true })) }
      case "GET ":
        return { status: 200, body: { id: this.domain.id, uuid: randomUUID(), domain: this.domain.name, active: true } }
      default:
        return errorOf(404, "Not found")
    }
  }

  #isTooOften(at: number): boolean {
    const { requests = Infinity, windowMillis = 10_000 } = this.#options
    this.#askedAt = [...this.#askedAt.filter((before) => before > at - windowMillis), at]
    return this.#askedAt.length > requests
  }

  async #place(ask: CarrierAsk): Promise<CarrierAnswer> {
    const order = readOrder(ask)
    if ("status" in order) return order
    const session = new CloudonixSession(this, order)
    this.sessions.set(session.token, session)
    session.start()
    const { destination, direction, domainId, token } = session.record()
    await session.placed
    return { status: 200, body: { domainId, destination, direction, token } }
  }

  /** Only live sessions are listed. */
  #live() {
    return [...this.sessions.values()].filter((session) => !session.hasEnded()).map((session) => session.record())
  }

  #withSession(what: string, token: string, body: string): CarrierAnswer {
    const session = this.sessions.get(token)
    if (session === undefined) return errorOf(404, "Session not found")
    if (what === "GET") return { status: 200, body: session.record() }
    if (session.hasEnded()) return errorOf(404, "Session not found")
    if (what === "POST/application") return replaced(session, documentIn(jsonIn(body)))
    if (what !== "DELETE") return errorOf(404, "Not found")
    session.hangUp()
    return this.hangupStatus === 204 ? { status: 204 } : { status: 200, body: session.record() }
  }
}

/** Only the document of an answered call can be replaced. */
const replaced = (session: CloudonixSession, document: string | undefined): CarrierAnswer => {
  if (document === undefined) return errorOf(400, "Invalid cxml")
  return session.replace(document) ? { status: 202 } : errorOf(400, "The session is not connected")
}
