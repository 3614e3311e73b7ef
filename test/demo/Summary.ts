/** The outcome of the demo, and whether it is as expected: compares the service's records with what the callees saw. */
import { carrierOf } from "#test/emulators/hostedCarriers.ts"
import { mostWithin } from "#test/emulators/shared/CalleeLog.ts"
import type { Campaign, Run } from "./Api.ts"
import { type Contact, type Expected, expectedOf, kinds, type Mode, type Provider } from "./Callees.ts"
import { type ConversationSummary, summarizeConversations } from "./ConversationSummary.ts"
import type { Held } from "./Conversations.ts"
import type { FarEnd, SeenCall } from "./FarEnd.ts"
import { type Percentiles, percentilesOf, rounded } from "./Percentiles.ts"
import { answererOf, causeOf, dispositionOf, endOf, firstWordsOf, keysOf, numberOf } from "./RunRecord.ts"

export interface Row {
  readonly callee: string
  /** The last three digits of the number. */
  readonly number: string
  readonly contacts: number
  readonly expected: string
  readonly asExpected: number
  readonly calls: number
}

export interface Summary {
  readonly ok: boolean
  readonly mode: Mode
  readonly provider: Provider
  readonly farEnd: string
  /** A sentence for each difference from what is expected; if there are any, the service's warnings and the longest standstills follow. */
  readonly problems: ReadonlyArray<string>
  readonly rows: ReadonlyArray<Row>
  /** Why less is expected than the callees did. */
  readonly notes: ReadonlyArray<string>
  readonly contacts: { readonly total: number; readonly completed: number; readonly failed: number }
  readonly calls: { readonly recorded: number; readonly seenByCallees: number; readonly dialedTwice: number }
  readonly retries: { readonly scheduled: number; readonly done: number }
  readonly slots: {
    readonly limit: number
    readonly most: number
    readonly judgedBy: "callees" | "service"
  }
  readonly dialsPerSecond: { readonly limit: number; readonly mean: number; readonly most: number }
  /** The time from the answer to the first word. */
  readonly firstWordMillis: Percentiles | null
  readonly transcripts: number
  readonly recordings: number
  /** Null: callees at this far end cannot talk. */
  readonly conversations: ConversationSummary | null
  readonly seconds: number
}

interface Story {
  readonly contacts: ReadonlyArray<Contact>
  readonly campaign: Campaign
  readonly progress: { readonly completed: number; readonly failed: number }
  readonly runs: ReadonlyArray<Run>
  /** The conversations of the second campaign. */
  readonly conversations: ReadonlyArray<Held> | undefined
  /** The calls of both campaigns. */
  readonly seen: ReadonlyArray<SeenCall>
  readonly farEnd: FarEnd
  /** The warnings of the service. */
  readonly warnings: ReadonlyArray<string>
  /** The longest standstill of each process. */
  readonly stallMillis: Readonly<Record<"callees" | "service", number>>
  readonly slots: number
  readonly rate: number
  readonly seconds: number
}

const groupBy = <A>(items: ReadonlyArray<A>, key: (item: A) => string): ReadonlyMap<string, ReadonlyArray<A>> => Map.groupBy(items, key)

const textOf = ({ cause, dispositions, keys }: Expected): string =>
  [dispositions.join(", "), `(${cause})`, ...(keys === undefined ? [] : [`keys ${keys}`])].join(" ")

/** Milliseconds. A standstill that a callee would notice. */
const noticed = 500

/** What else explains a call that went otherwise than expected. */
const detailsOf = (runs: ReadonlyArray<Run>): string =>
  runs
    .filter((run) => answererOf(run) !== "")
    .map((run) => `, taken for: ${answererOf(run)}, first word after ${firstWordsOf(run).map(rounded).join() || "?"} ms`)
    .join("")

const gotOf = (runs: ReadonlyArray<Run>): string => {
  const causes = [...new Set(runs.map(causeOf))]
  const keys = runs.map(keysOf).join("")
  return [runs.map(dispositionOf).join(", ") || "never called", `(${causes.join(", ")})`, ...(keys === "" ? [] : [`keys ${keys}`])].join(
    " "
  )
}

interface Span {
  readonly from: number
  readonly until: number
}

const allRuns = ({ conversations = [], runs }: Story): ReadonlyArray<Run> => [...runs, ...conversations.flatMap((held) => held.runs)]

/** The spans of the calls, from the callees' log if it has the ends, otherwise from the service's records. */
const spansOf = (story: Story): ReadonlyArray<Span> =>
  story.farEnd.mode === "emulator"
    ? story.seen.map(({ dialedAt, endedAt }) => ({ from: dialedAt, until: endedAt ?? Number.POSITIVE_INFINITY }))
    : allRuns(story).map((run) => ({ from: Date.parse(run.created_at), until: endOf(run) }))

const mostAtOnce = (spans: ReadonlyArray<Span>): number => {
  const steps = spans.flatMap(({ from, until }) => [
    { at: from, by: 1 },
    { at: until, by: -1 }
  ])
  // If a start and an end have the same time, the end was first.
  steps.sort((a, b) => a.at - b.at || a.by - b.by)
  let live = 0
  return steps.reduce((most, { by }) => Math.max(most, (live += by)), 0)
}

/** The numbers that were dialed more often than there are records, once for each extra dial. There must be none. */
const dialedTwice = (story: Story): ReadonlyArray<string> => {
  const recorded = groupBy(allRuns(story), numberOf)
  return [...groupBy(story.seen, ({ number }) => number)].flatMap(([number, dials]) =>
    Array.from({ length: Math.max(0, dials.length - (recorded.get(number)?.length ?? 0)) }, () => number)
  )
}

const deafNote = "SIPp cannot understand speech, so no callee holds a conversation here; those of the simulated providers do."

const isSpoken = (disposition: string): boolean => disposition === "user_hangup" || disposition === "call_duration_exceeded"

const comparedBy = ({ farEnd: { provider }, runs }: Story) => {
  const byNumber = groupBy(runs, numberOf)
  const runsOf = ({ number }: Contact) => byNumber.get(number) ?? []
  const expected = (kind: Contact["kind"]) => textOf(expectedOf(kind, provider))
  const got = (contact: Contact) => gotOf(runsOf(contact))
  return { runsOf, expected, got, isAsExpected: (contact: Contact) => got(contact) === expected(contact.kind) }
}

const rowsOf = (story: Story): ReadonlyArray<Row> => {
  const { expected, isAsExpected, runsOf } = comparedBy(story)
  return kinds.flatMap((kind): ReadonlyArray<Row> => {
    const those = story.contacts.filter((contact) => contact.kind === kind)
    if (those.length === 0) return []
    return [
      {
        callee: kind.title,
        number: kind.suffix[story.farEnd.mode] ?? "",
        contacts: those.length,
        expected: expected(kind),
        asExpected: those.filter(isAsExpected).length,
        calls: those.flatMap(runsOf).length
      }
    ]
  })
}

const notesOf = ({ mode, provider }: FarEnd): ReadonlyArray<string> =>
  provider === "ari" ? (mode === "asterisk" ? [deafNote] : []) : carrierOf(provider).notes

export const summarize = (story: Story): Summary => {
  const { campaign, contacts, farEnd, progress, runs, seen, slots } = story
  const { mode, provider } = farEnd
  const all = allRuns(story)
  const most = mostAtOnce(spansOf(story))
  const twice = dialedTwice(story)
  const { expected, got, isAsExpected, runsOf } = comparedBy(story)
  const talks = story.conversations === undefined ? undefined : summarizeConversations(story.conversations)
  const spoken = runs.filter((run) => isSpoken(dispositionOf(run)))
  const silent = new Set(seen.filter(({ hasAudio }) => !hasAudio).map(({ number }) => number))
  const transcripts = all.filter((run) => run.transcript_url !== null).length
  const lost = contacts.length - progress.completed - progress.failed
  const problems = [
    ...contacts
      .filter((contact) => !isAsExpected(contact))
      .map(
        (contact) =>
          `${contact.number} ${contact.kind.title}: expected ${expected(contact.kind)}, got ${got(contact)}${detailsOf(runsOf(contact))}.`
      ),
    ...twice.map((number) => `${number} was dialed more often than there are records of it.`),
    ...(seen.length < all.length ? [`The callees saw ${seen.length} calls, the service has records of ${all.length}.`] : []),
    ...(most > slots ? [`${most} calls were up at once, over the limit of ${slots}.`] : []),
    ...(lost === 0 ? [] : [`${lost} contacts have neither been completed nor failed.`]),
    ...spoken.filter((run) => run.recording_url === null && !silent.has(numberOf(run))).map((run) => `Run ${run.id} has no recording.`),
    ...(spoken.length > 0 && transcripts === 0 ? ["No call that was answered has a transcript."] : []),
    ...(talks?.problems ?? [])
  ]
  const warned = story.warnings.map((warning) => `The service warned: ${warning}`)
  const { callees, service } = story.stallMillis
  const standstills = [["callees'", callees] as const, ["service's", service] as const].filter(([, millis]) => millis > noticed)
  const stood = standstills.map(([whose, millis]) => `The ${whose} process stood still for up to ${rounded(millis)} ms.`)
  const times = seen.map(({ dialedAt }) => dialedAt)
  const dialingSeconds = (Math.max(...times) - Math.min(...times)) / 1000
  return {
    ok: problems.length === 0,
    mode,
    provider,
    farEnd: farEnd.name,
    problems: problems.length === 0 ? [] : [...problems, ...warned, ...stood],
    rows: rowsOf(story),
    notes: notesOf(farEnd),
    contacts: { total: contacts.length, completed: progress.completed, failed: progress.failed },
    calls: { recorded: all.length, seenByCallees: seen.length, dialedTwice: twice.length },
    retries: { scheduled: campaign.total_queued_count - campaign.total_rows, done: campaign.executed_count - campaign.processed_rows },
    slots: { limit: slots, most, judgedBy: mode === "emulator" ? "callees" : "service" },
    dialsPerSecond: { limit: story.rate, mean: rounded(seen.length / Math.max(1, dialingSeconds)), most: mostWithin(times, 1000) },
    firstWordMillis: percentilesOf(runs.flatMap(firstWordsOf)),
    transcripts,
    recordings: all.filter((run) => run.recording_url !== null).length,
    conversations: talks?.summary ?? null,
    seconds: rounded(story.seconds)
  }
}
