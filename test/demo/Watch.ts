/** Polls the API for the progress of the campaign until it is over. */
import { setTimeout as wait } from "node:timers/promises"
import type { Api, Campaign } from "./Api.ts"
import type { Conversations } from "./Conversations.ts"
import { DemoFailed } from "./DemoFailed.ts"
import type { Display } from "./Display.ts"

export const outcomes = ["answered", "voicemail", "busy", "no answer", "failed"] as const
type OutcomeName = (typeof outcomes)[number]

const codes: Readonly<Record<OutcomeName, ReadonlyArray<string>>> = {
  answered: ["user_hangup", "call_duration_exceeded", "end_call_tool", "system_cancelled"],
  voicemail: ["voicemail_detected"],
  busy: ["busy"],
  "no answer": ["no-answer"],
  failed: ["failed", "error", "canceled", "unknown"]
}

export interface Progress {
  readonly startedAt: number
  readonly contacts: number
  /** Contacts that are not called again, whatever the outcome. */
  readonly done: number
  readonly live: number
  readonly slots: number
  readonly dialsPerSecond: number
  readonly calls: Readonly<Record<OutcomeName, number>>
  readonly retriesWaiting: number
  /** How many conversations are over; undefined: there are none. */
  readonly conversations: { readonly held: number; readonly of: number } | undefined
}

const rateMillis = 4000
const longestMillis = 1_200_000

const retriesWaitingIn = ({ executed_count, processed_rows, total_queued_count, total_rows }: Campaign): number =>
  Math.max(0, total_queued_count - total_rows - (executed_count - processed_rows))

const makeRateMeter = () => {
  const seen: Array<{ readonly at: number; readonly count: number }> = []
  return (count: number) => {
    const at = Date.now()
    seen.push({ at, count })
    while (at - (seen[1]?.at ?? at) >= rateMillis) seen.shift()
    const first = seen[0]
    return first === undefined || at === first.at ? 0 : ((count - first.count) * 1000) / (at - first.at)
  }
}

const look = async (api: Api, id: number) => {
  const count = (attribute: "live" | OutcomeName) =>
    api.countRuns(
      id,
      attribute === "live"
        ? { attribute: "status", type: "radio", value: { status: "in_progress" } }
        : { attribute: "dispositionCode", type: "multiSelect", value: { codes: codes[attribute] } }
    )
  const [campaign, progress, live, ...counts] = await Promise.all([
    api.campaign(id),
    api.progress(id),
    count("live"),
    ...outcomes.map((outcome) => count(outcome))
  ])
  // The cast holds because there is one count for each name.
  const calls = Object.fromEntries(outcomes.map((outcome, index) => [outcome, counts[index] ?? 0])) as Record<OutcomeName, number>
  return { campaign, calls, done: progress.completed + progress.failed, live }
}

const over: ReadonlySet<Campaign["state"]> = new Set(["failed", "paused"])

const isCompleted = ({ logs, name, state }: Campaign): boolean => {
  if (over.has(state)) throw new DemoFailed(`The campaign ${name} is ${state}: ${logs.at(-1)?.message ?? "it does not say why"}`)
  return state === "completed"
}

interface Setting {
  readonly slots: number
  /** The conversations that run beside the campaign. */
  readonly conversations: Conversations | undefined
  readonly signal: AbortSignal
}

/** Returns the campaign when both it and the conversations are over. */
export const watch = async (
  api: Api,
  campaign: Campaign,
  { conversations, signal, slots }: Setting,
  { everyMillis, show }: Pick<Display, "everyMillis" | "show">
): Promise<Campaign> => {
  const startedAt = Date.now()
  const rate = makeRateMeter()
  while (Date.now() < startedAt + longestMillis) {
    const { campaign: now, ...seen } = await look(api, campaign.id)
    const beside = await conversations?.look(now)
    show({
      ...seen,
      retriesWaiting: retriesWaitingIn(now),
      conversations: beside,
      // A run is in progress until its end is on record, a little longer than its call.
      live: Math.min(seen.live + (beside?.live ?? 0), slots),
      startedAt,
      contacts: now.total_rows,
      slots,
      dialsPerSecond: rate(now.executed_count + (beside?.campaign.executed_count ?? 0))
    })
    if (isCompleted(now) && (beside === undefined || isCompleted(beside.campaign))) return now
    await wait(everyMillis)
    signal.throwIfAborted()
  }
  throw new DemoFailed(`The campaigns were not over after ${longestMillis / 60_000} minutes.`)
}
