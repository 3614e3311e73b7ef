/** Claims as campaigns make them, on a separate database, with a record of which campaigns the store wakes. */
import { Effect } from "effect"
import type { Test } from "tap"
import type { Claim, Claimed } from "#core/call/AttemptBeginning.ts"
import { AttemptStore } from "#core/call/AttemptStore.ts"
import { WakeWaiting } from "#core/call/NumberHold.ts"
import type { Outcome } from "#core/outcome/Outcome.ts"
import { Campaigns } from "#core/campaign/Campaigns.ts"
import { CallId, type CampaignId } from "#core/Id.ts"
import { beginCall, endOf, install, journal, makeAgent, makeCampaign, makeConfig, ours, upload } from "./services.ts"

export interface Running {
  readonly id: CampaignId
  readonly dialEpoch: number
  /** Undefined: nobody has owned it yet. */
  readonly ownerEpoch?: number
}
export const numbersOf = (count: number, prefix = "+1415") => Array.from({ length: count }, (_, i) => `${prefix}${String(5_550_000 + i)}`)
export const dialed = ({ attempts }: Claimed) => attempts.map(({ phoneNumber }) => phoneNumber)

export const installClaims = async (t: Test, maxConnections?: number) => {
  const { run, sql, ...installed } = await install(t, maxConnections)
  const config = await run(makeConfig("main", true))
  const agent = await run(makeAgent())
  let made = 0
  const newId = () => CallId.make(`01890000-0000-7000-8000-${String(++made).padStart(12, "0")}`)
  const ids = (count: number) => Array.from({ length: count }, newId)
  const listOf = (numbers: ReadonlyArray<string>) => `phone_number,first_name\n${numbers.map((number) => `${number},Ada\n`).join("")}`

  const woken: Array<CampaignId> = []
  /** A single store, as in the engine, with a record of which campaigns it wakes. */
  const store = await run(
    Effect.provide(AttemptStore, AttemptStore.layer).pipe(Effect.provideService(WakeWaiting, (campaigns) => void woken.push(...campaigns)))
  )

  const running = Effect.fnUntraced(function* (numbers: ReadonlyArray<string>) {
    const { id } = yield* makeCampaign({ agentId: agent.id, sourceId: yield* upload(listOf(numbers)) })
    yield* Campaigns.use((_) => _.start(ours, id))
    const [row] = yield* sql<{ readonly dialEpoch: number }>`SELECT dial_epoch FROM campaigns WHERE id = ${id}`
    return { id, dialEpoch: row?.dialEpoch ?? 0 }
  })

  const claim = (
    { dialEpoch, id, ownerEpoch = 0 }: Running,
    callIds: ReadonlyArray<CallId>,
    callers: Pick<Claim, "callers" | "usable"> = { callers: callIds.map(() => null), usable: { numbers: [], rooms: [] } },
    timeline?: string
  ) =>
    store.claim({
      ...callers,
      callIds,
      campaignId: id,
      dialEpoch,
      journal,
      node: "here",
      now: Date.now(),
      ownerEpoch,
      provider: "fake",
      telephonyConfigurationId: config.id,
      timeline
    })
  /** Claims like a campaign's owner, who claims again while there may be more: the first claim finds the contacts to be skipped. */
  const claimBehind = Effect.fnUntraced(function* (...wanted: Parameters<typeof claim>) {
    const found = yield* claim(...wanted)
    return found.attempts.length > 0 || !found.more ? found : yield* claim(...wanted)
  })
  const ended = (callId: CallId, outcome: Outcome = "answered") =>
    store.finish([
      {
        callId,
        decided: { fate: { state: "completed" }, settingsVersion: 0 },
        end: endOf({ cause: "normal_clearing", endedAt: Date.now(), outcome })
      }
    ])
  const undone = (callId: CallId, isLast = false) => store.undo(callId, { at: Date.now(), breakerEntry: false, isLast })
  const begin = (phoneNumber: string, callId = newId()) =>
    Effect.provideService(beginCall(callId, agent, config.id, { phoneNumber }), AttemptStore, store)
  const waiting = ({ id }: Running) =>
    sql<{ readonly phoneNumber: string }>`
        SELECT phone_number FROM contacts WHERE campaign_id = ${id} AND awaits_number ORDER BY row_no`.pipe(
      Effect.map((rows) => rows.map(({ phoneNumber }) => phoneNumber))
    )
  return { ...installed, begin, claim, claimBehind, config, ended, ids, newId, run, running, sql, store, undone, waiting, woken }
}
