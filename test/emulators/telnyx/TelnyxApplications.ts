/** The Call Control applications of an account, and its outbound voice profiles; an application needs one of them to dial. */
import type { CarrierAnswer, CarrierAsk } from "#test/emulators/shared/CarrierServer.ts"
import { dataOf, errorOf } from "./TelnyxErrors.ts"

interface Application {
  readonly id: string
  readonly application_name: string
  readonly webhook_event_url: string
  readonly outbound: { readonly outbound_voice_profile_id: string | null }
}
interface Profile {
  readonly id: string
  readonly name: string
  readonly enabled: boolean
}

const recordOf = (application: Application) => ({ record_type: "call_control_application", active: true, ...application })

export const pageOf = (records: ReadonlyArray<object>, query: URLSearchParams, most = 250): CarrierAnswer => {
  const [size, number] = [Math.min(Number(query.get("page[size]") ?? 20), most), Number(query.get("page[number]") ?? 1)]
  const meta = { total_pages: Math.ceil(records.length / size), total_results: records.length, page_number: number, page_size: size }
  return dataOf(records.slice((number - 1) * size, number * size), meta)
}

export class TelnyxApplications {
  readonly profiles: Array<Profile> = [{ id: "1293384261075731461", name: "Default", enabled: true }]
  readonly #applications = new Map<string, Application>()
  #nextId = 1_700_000_000_000_000_000n

  /** Adds an application as a person would in the portal. */
  add(id: string, application_name: string): void {
    const outbound = { outbound_voice_profile_id: this.profiles[0]?.id ?? null }
    this.#applications.set(id, { id, application_name, outbound, webhook_event_url: "https://example.com/hook" })
  }
  all(): ReadonlyArray<Application> {
    return [...this.#applications.values()]
  }
  remove(id: string): void {
    this.#applications.delete(id)
  }
  mayDial(id: string): boolean {
    return typeof this.#applications.get(id)?.outbound.outbound_voice_profile_id === "string"
  }

  list({ query }: CarrierAsk): CarrierAnswer {
    const part = query.get("filter[application_name][contains]")?.toLowerCase() ?? ""
    return pageOf(
      this.all()
        .filter((one) => one.application_name.toLowerCase().includes(part))
        .map(recordOf),
      query
    )
  }
  listProfiles({ query }: CarrierAsk): CarrierAnswer {
    return pageOf(
      this.profiles.map((profile) => ({ record_type: "outbound_voice_profile", ...profile })),
      query
    )
  }
  find(id: string): CarrierAnswer {
    const application = this.#applications.get(id)
    return application === undefined ? errorOf(404, "10005") : dataOf(recordOf(application))
  }
  create({ body }: CarrierAsk): CarrierAnswer {
    const { application_name, outbound, webhook_event_url } = JSON.parse(body) as Partial<Application> // Missing members are checked below.
    if (application_name === undefined) return errorOf(422, "10004", "/application_name")
    if (webhook_event_url === undefined || !/^https?:\/\//.test(webhook_event_url)) return errorOf(422, "10015", "/webhook_event_url")
    if (this.all().some((one) => one.application_name === application_name)) return errorOf(422, "10015", "/application_name")
    const profile = outbound?.outbound_voice_profile_id ?? null
    if (profile !== null && !this.profiles.some(({ id }) => id === profile))
      return errorOf(422, "10015", "/outbound/outbound_voice_profile_id")
    const id = String(this.#nextId++)
    const application = { id, application_name, webhook_event_url, outbound: { outbound_voice_profile_id: profile } }
    this.#applications.set(id, application)
    return { ...dataOf(recordOf(application)), status: 201 }
  }
}
