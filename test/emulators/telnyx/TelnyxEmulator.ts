/** Telnyx' Call Control API v2 and its signed webhooks. Numbers that begin with +999 are invalid. */
import { generateKeyPairSync, randomBytes, randomUUID } from "node:crypto"
import { AcceptWindow } from "#test/emulators/shared/AcceptWindow.ts"
import type { CarrierAnswer, CarrierAsk } from "#test/emulators/shared/CarrierServer.ts"
import { HostedEmulator, type HostedOptions, started } from "#test/emulators/shared/HostedEmulator.ts"
import { pageOf, TelnyxApplications } from "./TelnyxApplications.ts"
import { TelnyxCall, signatureOf } from "./TelnyxCall.ts"
import { readDial, readStream, readTransfer } from "./TelnyxDials.ts"
import { dataOf, errorOf } from "./TelnyxErrors.ts"

interface TelnyxOptions extends HostedOptions {
  /** How many dials are accepted within five seconds. */
  readonly dials?: number
  /** How many live calls there are on one page of a list. */
  readonly pageSize?: number
}

/** As often as the longest retry policy allows. */
const WEBHOOK_RETRIES = 5

export const startTelnyxEmulator = (options: TelnyxOptions = {}) => started(new TelnyxEmulator(options))

class TelnyxEmulator extends HostedEmulator<TelnyxCall> {
  readonly provider = "telnyx"
  readonly places = ({ method, path }: CarrierAsk) => method === "POST" && path === "/v2/calls"
  readonly transfers = ({ path }: CarrierAsk) => path.endsWith("/actions/transfer")
  readonly hangsUp = ({ path }: CarrierAsk) => path.endsWith("/actions/hangup")
  apiKey = `KEY${randomBytes(16).toString("hex")}`
  readonly connectionId = "1684641123236054244"
  readonly applications = new TelnyxApplications()
  readonly #keys = generateKeyPairSync("ed25519")
  readonly privateKey = this.#keys.privateKey
  readonly #options: TelnyxOptions
  readonly #byCommand = new Map<string, TelnyxCall>()
  readonly #dials = new AcceptWindow()

  constructor(options: TelnyxOptions) {
    super(options, WEBHOOK_RETRIES)
    this.#options = options
    this.applications.add(this.connectionId, "made by a person")
  }

  get account() {
    return { api_key: this.apiKey, connection_id: this.connectionId, webhook_public_key: this.publicKey }
  }

  /** The public key as the portal shows it: 32 bytes in base64. */
  get publicKey(): string {
    return this.#keys.publicKey.export({ format: "der", type: "spki" }).subarray(-32).toString("base64")
  }

  /** The headers of a webhook with this body. */
  signature(body: string): Readonly<Record<string, string>> {
    return signatureOf(body, this.#keys.privateKey)
  }

  /** Removes the calls that have ended, which Telnyx does ten minutes after their end. */
  forgetEnded(): void {
    for (const [id, { life }] of this.calls) if (life.state === "ended") this.calls.delete(id)
  }

  protected answer(ask: CarrierAsk): CarrierAnswer | Promise<CarrierAnswer> {
    if (ask.headers["authorization"] !== `Bearer ${this.apiKey}`) return errorOf(401, "10009")
    const [, , resource = "", id = "", more = "", action = ""] = ask.path.split("/").map(decodeURIComponent)
    switch (`${ask.method} ${resource}${id === "" ? "" : "/:id"}${more === "" ? "" : `/${more}`}`) {
      case "POST calls":
        return this.#dial(ask)
      case "GET calls/:id":
        return this.#withCall(id, (call) => dataOf(call.record()))
      case "POST calls/:id/actions":
        return this.#withCall(id, (call) => this.#act(call, action, ask.body))
      case "GET connections/:id/active_calls":
        return this.#activeCalls(id, ask.query)
      case "GET call_events":
        return this.#callEvents(ask.query)
      case "GET call_control_applications/:id":
        return this.applications.find(id)
      case "GET call_control_applications":
        return this.applications.list(ask)
      case "POST call_control_applications":
        return this.applications.create(ask)
      case "GET outbound_voice_profiles":
        return this.applications.listProfiles(ask)
      case "GET phone_numbers":
        return this.#numbers(ask.query)
      case "GET detail_records":
      case "GET recordings":
        return dataOf([], { total_pages: 0, total_results: 0 })
      default:
        return errorOf(404, "10005")
    }
  }

  async #dial({ body, headers }: CarrierAsk): Promise<CarrierAnswer> {
    if (!this.#dials.accepts(this.#options.dials ?? 150, 5_000)) return errorOf(429, "90103")
    const dial = readDial(headers["content-type"] ?? "", body)
    if ("status" in dial) return dial
    if (!this.applications.mayDial(dial.connection_id)) return errorOf(404, "10005")
    const earlier = this.#byCommand.get(dial.command_id ?? "")
    if (earlier !== undefined) return dataOf(earlier.record())
    const call = new TelnyxCall(this, dial)
    this.calls.set(call.id, call)
    this.#byCommand.set(dial.command_id ?? randomUUID(), call)
    // The record as it is before the reply is delayed.
    const answer = dataOf(call.record())
    await call.placed
    return answer
  }

  #act(call: TelnyxCall, action: string, body: string): CarrierAnswer {
    const { id, life } = call
    if (life.state === "ended") return errorOf(422, "90018")
    if (action === "hangup") life.hangUp()
    else if (action === "transfer") return transfer(call, body)
    else if (action === "streaming_start") return startStream(call, body)
    else if (action !== "send_dtmf") return errorOf(404, "10005")
    else if (life.state !== "up") return errorOf(422, "90034")
    else this.log.press(id, /"digits":"([^"]*)"/.exec(body)?.[1] ?? "")
    return dataOf({ result: "ok" })
  }

  #withCall(id: string, use: (call: TelnyxCall) => CarrierAnswer): CarrierAnswer {
    const call = this.calls.get(id)
    return call === undefined ? errorOf(404, "10005") : use(call)
  }

  /** Lists live calls in pages. The cursor of a page is the number of its first call. */
  #activeCalls(connectionId: string, query: URLSearchParams): CarrierAnswer {
    if (this.applications.find(connectionId).status !== 200) return errorOf(404, "10005")
    const size = Math.min(Number(query.get("page[limit]") ?? 20), this.#options.pageSize ?? 250)
    const from = Number(query.get("page[after]") ?? 0)
    const live = [...this.calls.values()].filter(({ dial, life }) => life.state !== "ended" && dial.connection_id === connectionId)
    const after = from + size < live.length ? String(from + size) : undefined
    const next = after === undefined ? {} : { next: `/v2/connections/${connectionId}/active_calls?page[after]=${after}` }
    const page = live.slice(from, from + size).map((call) => call.record())
    return dataOf(page, { total_items: live.length, cursors: { after: after ?? "" }, ...next })
  }

  #callEvents(query: URLSearchParams): CarrierAnswer {
    const call = [...this.calls.values()].find(({ legId }) => legId === query.get("filter[leg_id]"))
    return dataOf(call?.events ?? [], { total_pages: 1 })
  }

  #numbers(query: URLSearchParams): CarrierAnswer {
    const numbers = this.numbers.map((phone_number, at) => ({
      record_type: "phone_number",
      id: String(at),
      phone_number,
      status: "active"
    }))
    return pageOf(numbers, query, this.#options.pageSize)
  }
}

const startStream = (call: TelnyxCall, body: string): CarrierAnswer => {
  const url = readStream(body)
  if (typeof url !== "string") return url
  if (call.life.state !== "up") return errorOf(422, "90034")
  call.restream(url)
  return dataOf({ result: "ok" })
}

const transfer = (call: TelnyxCall, body: string): CarrierAnswer => {
  const dial = readTransfer(call.dial, body)
  if ("status" in dial) return dial
  if (call.life.state !== "up") return errorOf(422, "90034")
  call.transfer(dial)
  return dataOf({ result: "ok" })
}
