/**
 * Cloudonix' REST API as seen from the wire, on a real port of the loopback interface. The number that is dialed selects the callee
 * (`shared/Callee.ts`), the callees' log records what they saw, and numbers that begin with +999 are invalid.
 */
import { randomBytes, randomUUID } from "node:crypto"
import { CallbackSender } from "#test/emulators/shared/CallbackSender.ts"
import { CalleeLog } from "#test/emulators/shared/CalleeLog.ts"
import { CallLives } from "#test/emulators/shared/CallLife.ts"
import { type CarrierAsk, CarrierServer } from "#test/emulators/shared/CarrierServer.ts"
import { CloudonixSession, type Domain } from "./CloudonixSession.ts"
import { documentIn } from "./cxml.ts"
import { type CloudonixAnswer, errorOf, parsed, readOrder } from "./orders.ts"

interface CloudonixOptions {
  /** 0.1 is ten times faster; audio stays in real time. */
  readonly timeScale?: number
  readonly ringMillis?: number
  readonly talkMillis?: number
  /** The numbers of the domain. */
  readonly numbers?: ReadonlyArray<string>
  /** How many requests of any kind are accepted within `windowMillis`, which is ten seconds by default. */
  readonly requests?: number
  readonly windowMillis?: number
}

/** Whether a request is to place a call. */
export const isOrder = ({ method, path }: CarrierAsk): boolean => method === "POST" && /^\/calls\/[^/]+\/application$/.test(path)
/** Whether a request is to replace the document of a call. */
export const isTransfer = ({ method, path }: CarrierAsk): boolean => method === "POST" && /\/sessions\/[^/]+\/application$/.test(path)
export const isHangup = ({ method }: CarrierAsk): boolean => method === "DELETE"
export const isLook = ({ method, path }: CarrierAsk): boolean => method === "GET" && path.includes("/sessions")

export const startCloudonixEmulator = async (options: CloudonixOptions = {}): Promise<CloudonixEmulator> => {
  const emulator = new CloudonixEmulator(options)
  await emulator.server.listen()
  return emulator
}

class CloudonixEmulator {
  readonly apiKey = `XI${randomBytes(16).toString("hex").toUpperCase()}`
  readonly log = new CalleeLog()
  readonly lives: CallLives
  /** It is not documented whether Cloudonix repeats a failed callback. */
  readonly callbacks = new CallbackSender({ retries: 0 })
  readonly server = new CarrierServer((ask) => this.#answer(ask))
  readonly domain: Domain
  readonly sessions = new Map<string, CloudonixSession>()
  /** The status of the reply to a hang-up that is carried out. */
  hangupStatus: 200 | 204 = 204
  readonly #options: CloudonixOptions
  #askedAt: Array<number> = []

  constructor(options: CloudonixOptions) {
    const { ringMillis = 100, talkMillis = 300, timeScale: scale = 1 } = options
    this.#options = options
    this.lives = new CallLives(this.log, { ringMillis, scale, talkMillis })
    this.domain = {
      name: "acme.cloudonix.net",
      id: 3,
      lives: this.lives,
      sender: this.callbacks,
      recordUrl: undefined,
      recordSays: undefined,
      staticKey: undefined,
      hasCallbacks: true,
      endMillis: 0,
      hasMarks: true,
      hasCredit: true,
      namesDials: false
    }
  }

  get url(): string {
    return this.server.url
  }

  /** The requests for calls that arrived, whatever their results. */
  orders(): ReadonlyArray<CarrierAsk> {
    return this.server.requests.filter(isOrder)
  }

  /** The sessions of calls to this number, the oldest first. */
  sessionsTo(number: string): ReadonlyArray<CloudonixSession> {
    return [...this.sessions.values()].filter(({ order }) => order.destination === number)
  }

  /** Removes the sessions that have ended, which Cloudonix does not keep forever. */
  forgetEnded(): void {
    for (const [token, session] of this.sessions) if (session.hasEnded()) this.sessions.delete(token)
  }

  async stop(): Promise<void> {
    for (const session of this.sessions.values()) session.hangUp()
    this.callbacks.lose()
    await this.server.stop()
  }

  #answer(ask: CarrierAsk): CloudonixAnswer | Promise<CloudonixAnswer> {
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
        return { status: 200, body: (this.#options.numbers ?? []).map((number, id) => ({ id, source: number, active: true })) }
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

  async #place(ask: CarrierAsk): Promise<CloudonixAnswer> {
    const order = readOrder(ask)
    if ("status" in order) return order
    const session = new CloudonixSession(this.domain, order)
    this.sessions.set(session.token, session)
    session.start()
    const { destination, direction, domainId, subscriberId, token } = session.record()
    await session.mayReply
    return { status: 200, body: { domainId, subscriberId, destination, direction, token } }
  }

  /** Only live sessions are listed. */
  #live() {
    return [...this.sessions.values()].filter((session) => !session.hasEnded()).map((session) => session.record())
  }

  #withSession(what: string, token: string, body: string): CloudonixAnswer {
    const session = this.sessions.get(token)
    if (session === undefined) return errorOf(404, "Session not found")
    if (what === "GET") return { status: 200, body: session.record() }
    if (session.hasEnded()) return errorOf(404, "Session not found")
    if (what === "POST/application") return replaced(session, documentIn(parsed(body)))
    if (what !== "DELETE") return errorOf(404, "Not found")
    session.hangUp()
    return this.hangupStatus === 204 ? { status: 204 } : { status: 200, body: session.record() }
  }
}

/** Only the document of an answered call can be replaced. */
const replaced = (session: CloudonixSession, document: string | undefined): CloudonixAnswer => {
  if (document === undefined) return errorOf(400, "Invalid cxml")
  return session.replace(document) ? { status: 202 } : errorOf(400, "The session is not connected")
}
