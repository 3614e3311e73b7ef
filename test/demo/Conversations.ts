/**
 * The campaign whose agent holds conversations. It shares the slots with the large one, and starts when that one has scheduled retries or processed its
 * list.
 */
import type { Api, Campaign, Run } from "./Api.ts"
import { type Conversation, conversationsThrough, csvOf, definition } from "./Appointments.ts"
import type { FarEnd } from "./FarEnd.ts"
import { recognizerName } from "#test/support/installRecognizer.ts"
import { numberOf } from "./RunRecord.ts"
import { type Speech, TalkingCallee } from "./TalkingCallee.ts"

/** No call takes this long, except on a machine that is busy with other work. */
const maxCallSeconds = 600
const idleSeconds = 60

/** What a callee knows of the call. */
type Witness = Pick<TalkingCallee, "turns" | "understood"> & { readonly talker: Pick<TalkingCallee["talker"], "turns"> }

/** One conversation and its outcome. */
export interface Held {
  readonly conversation: Conversation
  /** Undefined: the call had no audio. */
  readonly callee: Witness | undefined
  readonly runs: ReadonlyArray<Run>
  readonly transcript: string
  readonly hasOptedOut: boolean
}

export class Conversations {
  readonly #api: Api
  readonly #campaign: Campaign
  readonly #all: ReadonlyArray<Conversation>
  readonly #callees: ReadonlyMap<string, TalkingCallee>
  #hasStarted = false

  private constructor(api: Api, campaign: Campaign, all: ReadonlyArray<Conversation>, callees: ReadonlyMap<string, TalkingCallee>) {
    this.#api = api
    this.#campaign = campaign
    this.#all = all
    this.#callees = callees
  }

  static async prepare(
    api: Api,
    { letTalk, provider }: FarEnd,
    speech: Speech,
    campaign: { readonly telephonyId: number; readonly slots: number }
  ): Promise<Conversations> {
    const all = conversationsThrough(provider)
    const callees = new Map<string, TalkingCallee>()
    letTalk?.((number, press) => {
      const conversation = all.find((one) => one.number === number)
      if (conversation === undefined) return undefined
      const callee = new TalkingCallee(conversation, speech, press)
      callees.set(number, callee)
      return callee.talker
    })
    const agent = await api.createAgent("Appointments", definition)
    await api.configureAgent(agent.id, {
      max_call_duration: maxCallSeconds,
      max_user_idle_timeout: idleSeconds,
      model_overrides: { stt: { provider: recognizerName } }
    })
    const created = await api.createCampaign({
      name: "Appointments",
      workflow_id: agent.id,
      source_type: "csv",
      source_id: await api.upload("appointments.csv", csvOf(all)),
      telephony_configuration_id: campaign.telephonyId,
      max_concurrency: campaign.slots,
      retry_config: { enabled: false }
    })
    return new Conversations(api, created, all, callees)
  }

  get count(): number {
    return this.#all.length
  }

  /** The progress of the conversations, given that of the large campaign. */
  async look(large: Campaign) {
    const isWaiting = large.total_queued_count > large.total_rows || large.processed_rows >= large.total_rows
    if (!this.#hasStarted && isWaiting) {
      this.#hasStarted = true
      await this.#api.startCampaign(this.#campaign.id)
    }
    const { id } = this.#campaign
    const count = (status: "completed" | "in_progress") =>
      this.#api.countRuns(id, { attribute: "status", type: "radio", value: { status } })
    const [campaign, live, held] = await Promise.all([this.#api.campaign(id), count("in_progress"), count("completed")])
    return { campaign, live, held, of: this.#all.length }
  }

  async outcome(): Promise<ReadonlyArray<Held>> {
    const runs = Map.groupBy(await this.#api.allRuns(this.#campaign.id), numberOf)
    return Promise.all(
      this.#all.map(async (conversation): Promise<Held> => {
        const { number } = conversation
        const own = runs.get(number) ?? []
        const spoken = own.filter(({ transcript_url }) => transcript_url !== null)
        return {
          conversation,
          callee: this.#callees.get(number),
          runs: own,
          transcript: (await Promise.all(spoken.map((run) => this.#api.transcript(run)))).join(""),
          hasOptedOut: await this.#api.hasOptedOut(number)
        }
      })
    )
  }
}
