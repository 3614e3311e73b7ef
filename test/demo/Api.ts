/** The service's API, as far as the demo uses it. */
import type { Static } from "typebox"
import type { AgentWire } from "#gateway/wire/Agent.ts"
import type { CampaignProgressWire, CampaignWire } from "#gateway/wire/Campaign.ts"
import type { UploadAddress } from "#gateway/wire/File.ts"
import type { ReadyWire } from "#gateway/wire/Health.ts"
import type { OptOutListWire } from "#gateway/wire/OptOut.ts"
import type { PhoneNumberWire } from "#gateway/wire/PhoneNumber.ts"
import type { RunPageWire, RunWire } from "#gateway/wire/Run.ts"
import type { TelephonyConfigWire } from "#gateway/wire/Telephony.ts"
import { DemoFailed } from "./DemoFailed.ts"

export type Campaign = Static<typeof CampaignWire>
export type Run = Static<typeof RunWire>
type RunPage = Static<typeof RunPageWire>

const answerMillis = 30_000
const pageSize = 100

/** Selects runs by disposition, or by whether they are over. */
type RunFilter =
  | { readonly attribute: "dispositionCode"; readonly type: "multiSelect"; readonly value: { readonly codes: ReadonlyArray<string> } }
  | { readonly attribute: "status"; readonly type: "radio"; readonly value: { readonly status: "completed" | "in_progress" } }

export class Api {
  readonly #url: string
  readonly #key: string

  constructor(url: string, key: string) {
    this.#url = `${url}/api/v1`
    this.#key = key
  }

  /** Milliseconds, since it was last asked: how long its process stood still at most. */
  async longestStandstill(): Promise<number> {
    const figures = await (await fetch(new URL("/metrics", this.#url), { signal: AbortSignal.timeout(answerMillis) })).text()
    return 1000 * Number(/^\w*event_loop_delay_seconds\{quantile="1"\} (\S+)$/m.exec(figures)?.[1])
  }

  ready() {
    return this.#json<Static<typeof ReadyWire>>("GET", "/health/ready")
  }

  createTelephonyConfig(name: string, config: Readonly<Record<string, string>>) {
    return this.#json<Static<typeof TelephonyConfigWire>>("POST", "/organizations/telephony-configs", {
      name,
      config,
      is_default_outbound: true
    })
  }

  addPhoneNumber(configId: number, address: string) {
    return this.#json<Static<typeof PhoneNumberWire>>("POST", `/organizations/telephony-configs/${configId}/phone-numbers`, { address })
  }

  createAgent(name: string, definition: object) {
    return this.#json<Static<typeof AgentWire>>("POST", "/workflow/create/definition", { name, workflow_definition: definition })
  }

  /** `example`: what the agent knows in a chat. */
  configureAgent(id: number, configurations: object, example: object = {}) {
    const change = { workflow_configurations: configurations, template_context_variables: example }
    return this.#json<Static<typeof AgentWire>>("PUT", `/workflow/${id}`, change)
  }

  /** The key of the uploaded file. */
  async upload(name: string, csv: string): Promise<string> {
    const file = { file_name: name, file_size: Buffer.byteLength(csv), content_type: "text/csv" }
    const address = await this.#json<Static<typeof UploadAddress>>("POST", "/s3/presigned-upload-url", file)
    await this.#answer("PUT", address.upload_url, { body: csv, headers: { "content-type": "text/csv" } })
    return address.file_key
  }

  createCampaign(body: object) {
    return this.#json<Campaign>("POST", "/campaign/create", body)
  }

  startCampaign(id: number) {
    return this.#json<Campaign>("POST", `/campaign/${id}/start`)
  }

  campaign(id: number) {
    return this.#json<Campaign>("GET", `/campaign/${id}`)
  }

  progress(id: number) {
    return this.#json<Static<typeof CampaignProgressWire>>("GET", `/campaign/${id}/progress`)
  }

  async countRuns(id: number, filter: RunFilter): Promise<number> {
    return (await this.#runs(id, { limit: "1", filters: JSON.stringify([filter]) })).total_count
  }

  /** All runs, oldest first. */
  async allRuns(id: number): Promise<ReadonlyArray<Run>> {
    const runs: Array<Run> = []
    for (let page = 1, pages = 1; page <= pages; page++) {
      const found = await this.#runs(id, { limit: String(pageSize), page: String(page), sort_order: "asc" })
      runs.push(...found.runs)
      pages = found.total_pages
    }
    return runs
  }

  async hasOptedOut(number: string): Promise<boolean> {
    const query = new URLSearchParams({ phone_number: number })
    return (await this.#json<Static<typeof OptOutListWire>>("GET", `/organizations/opt-outs?${query}`)).opt_outs.length > 0
  }

  async transcript(run: Run): Promise<string> {
    return (
      await this.#answer("GET", `${this.#url}/workflow/${run.workflow_id}/runs/${run.id}/transcript`, { headers: this.#headers() })
    ).text()
  }

  #runs(id: number, query: Readonly<Record<string, string>>) {
    return this.#json<RunPage>("GET", `/campaign/${id}/runs?${new URLSearchParams(query)}`)
  }

  #headers() {
    return { "x-api-key": this.#key, "content-type": "application/json" }
  }

  async #json<Body>(method: string, path: string, body?: object): Promise<Body> {
    const init = { headers: this.#headers(), ...(body === undefined ? {} : { body: JSON.stringify(body) }) }
    // These types come from the schemas by which the service builds its replies.
    return (await (await this.#answer(method, this.#url + path, init)).json()) as Body
  }

  async #answer(method: string, url: string, init: RequestInit): Promise<Response> {
    const what = `${method} ${new URL(url).pathname}`
    const failed = (why: string) => new DemoFailed(`The service did not do what the demo requested: ${what} ${why}`)
    const response = await fetch(url, { ...init, method, signal: AbortSignal.timeout(answerMillis) }).catch((error: unknown) => {
      throw failed(`failed, ${error instanceof Error ? (error.cause ?? error.message) : error}.`)
    })
    if (response.ok) return response
    throw failed(`was answered ${response.status}: ${await response.text()}`)
  }
}
