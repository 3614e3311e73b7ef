/** Compares what a campaign's report says with what the callees saw. Pure. */
import type { CalleeEntry } from "#test/emulators/shared/CalleeLog.ts"
import { reasons, type Unplaced } from "./doubts.ts"
import type { ReportRow } from "./reportOf.ts"

export const rules = [
  "no number is rung twice for one attempt",
  "nobody who has answered is called again",
  "the outcome of each attempt is what its callee did",
  "no answered call counts as a failure",
  "whoever was busy or did not answer is called once more, and nobody else",
  "the engine hangs up on nobody who talks",
  "no more calls are up at once than the campaign may have",
  "nobody claims to know of a call that was never placed where nobody could hear of it",
  "each kill leaves one doubt at most of a request that never left"
] as const

interface Finding {
  readonly rule: (typeof rules)[number]
  readonly what: string
}

export interface Evidence {
  readonly entries: ReadonlyArray<CalleeEntry>
  readonly rows: ReadonlyArray<ReportRow>
  /** Their attempts are `unknown`. For all others, it is known what the callee did. */
  readonly unplaced: Unplaced
  /** Calls about which the engine was told nothing: their attempts may be `unknown`. */
  readonly untold: ReadonlySet<string>
  /** For each kill, the calls that the engine had then, as far as the database knew. Another engine hangs them up, and cannot know how all of them end. */
  readonly lost: ReadonlyArray<ReadonlySet<string>>
  /** When engines died through which the audio of other engines' calls may have come, which ends those calls: also while that was just being connected. */
  readonly cuts: ReadonlyArray<{ readonly at: number; readonly goneAt: number }>
  /** How many calls the campaign may have at once. */
  readonly cap: number
}

/** What happened at the callee's end for one attempt. */
interface Ring {
  readonly at: number
  readonly answeredAt?: number | undefined
  readonly endedAt?: number | undefined
  readonly by?: CalleeEntry["by"]
  readonly cause?: number | undefined
}

/** At most one attempt can be in doubt because of a kill between the journal's line and the first byte, which follow each other in one step. */
const MOST_IN_THE_ACT = 1

const ringsOf = ({ entries }: Evidence): ReadonlyMap<string, ReadonlyArray<Ring>> => {
  const calls = Map.groupBy(entries, ({ channelId }) => channelId)
  const rings = [...calls.values()].map((call) => {
    const of = (kind: CalleeEntry["kind"]) => call.find((entry) => entry.kind === kind)
    const [dialed, ended] = [of("originate"), of("ended")]
    const ring: Ring = {
      at: dialed?.at ?? 0,
      answeredAt: of("answered")?.at,
      endedAt: ended?.at,
      by: ended?.by,
      cause: ended?.cause
    }
    return { number: dialed?.number ?? "", ring }
  })
  return new Map([...Map.groupBy(rings, ({ number }) => number)].map(([number, all]) => [number, all.map(({ ring }) => ring)]))
}

const deedOf = ({ answeredAt, by, cause }: Ring): string => {
  if (answeredAt !== undefined) return "answered"
  if (by === "us") return "canceled"
  return cause === 17 ? "busy" : cause === 19 ? "no_answer" : "failed"
}

const failures: ReadonlySet<string> = new Set(["failed", "error", "unknown"])

const isRetried = (outcome: string | undefined): boolean => outcome === "busy" || outcome === "no_answer"

type Complaint = readonly [rule: Finding["rule"], what: string]

const judgeAttempt = (
  { callId, isBreakerFailure, outcome }: ReportRow,
  ring: Ring | undefined,
  { cuts, lost, untold }: Pick<Evidence, "cuts" | "lost" | "untold">
): ReadonlyArray<Complaint> => {
  const what = ring === undefined || (outcome === "unknown" && untold.has(callId)) ? "unknown" : deedOf(ring)
  const isAbandoned = lost.some((calls) => calls.has(callId))
  const { answeredAt = Number.POSITIVE_INFINITY, by, endedAt = 0 } = ring ?? {}
  const wasCut = cuts.some(({ at, goneAt }) => answeredAt <= goneAt && at <= endedAt)
  // Some carriers report that nobody answered a call that was hung up before.
  const wasUnanswered = what === "canceled" && outcome === "no_answer"
  // Whoever is quicker ends a call without audio: the carrier, or the engine, which then calls it a failure.
  const isExcused = (isAbandoned && (outcome === "error" || outcome === "unknown" || wasUnanswered)) || (wasCut && outcome === "error")
  const complaints: Array<Complaint> = []
  if (outcome !== what && !isExcused) complaints.push(["the outcome of each attempt is what its callee did", `${outcome}, and not ${what}`])
  if (what === "answered" && !isExcused && (isBreakerFailure || failures.has(outcome)))
    complaints.push(["no answered call counts as a failure", outcome])
  if (isBreakerFailure && !failures.has(outcome)) complaints.push(["no answered call counts as a failure", `${outcome}, for the breaker`])
  if (answeredAt < endedAt && by === "us" && !isAbandoned && !wasCut)
    complaints.push(["the engine hangs up on nobody who talks", "hung up"])
  return complaints
}

/** Judges one number. Rows and rings are in chronological order. */
const judgeNumber = (rows: ReadonlyArray<ReportRow>, rings: ReadonlyArray<Ring>, { cuts, lost, unplaced, untold }: Evidence) => {
  const placed = rows.filter(({ callId }) => !unplaced.has(callId))
  const complaints = rows.flatMap((row) =>
    judgeAttempt(row, unplaced.has(row.callId) ? undefined : rings[placed.indexOf(row)], { cuts, lost, untold })
  )
  if (placed.length !== rings.length)
    complaints.push(["no number is rung twice for one attempt", `${placed.length} attempts, ${rings.length} calls`])
  const answered = rings.findIndex(({ answeredAt }) => answeredAt !== undefined)
  if (answered !== -1 && answered < rings.length - 1) complaints.push(["nobody who has answered is called again", "called again"])
  if (rows.length !== (isRetried(rows[0]?.outcome) ? 2 : 1))
    complaints.push(["whoever was busy or did not answer is called once more, and nobody else", `${rows.length} attempts`])
  return complaints
}

/** The highest number of calls between their request and their end at the same time. */
const mostAtOnce = (entries: ReadonlyArray<CalleeEntry>): number => {
  const live = new Set<string>()
  let most = 0
  for (const { channelId, kind } of entries.toSorted((a, b) => a.at - b.at)) {
    if (kind === "ended") live.delete(channelId)
    else if (kind === "originate") live.add(channelId)
    most = Math.max(most, live.size)
  }
  return most
}

const judgeCap = ({ cap, entries }: Evidence): ReadonlyArray<Finding> => {
  const most = mostAtOnce(entries)
  return most <= cap ? [] : [{ rule: "no more calls are up at once than the campaign may have", what: `${most}, and not ${cap}` }]
}

const judgeDoubts = ({ rows, unplaced }: Evidence): ReadonlyArray<Finding> => {
  const recorded = new Set(rows.map(({ callId }) => callId))
  return [...unplaced]
    .filter(([callId]) => !recorded.has(callId))
    .map(([, why]) => ({ rule: "nobody claims to know of a call that was never placed where nobody could hear of it", what: why }))
}

const judgeKills = ({ lost, unplaced }: Evidence): ReadonlyArray<Finding> => {
  const inTheAct = [...unplaced.values()].filter((why) => why === reasons.neverLeft).length
  const most = MOST_IN_THE_ACT * lost.length
  return inTheAct <= most
    ? []
    : [{ rule: "each kill leaves one doubt at most of a request that never left", what: `${inTheAct} after ${lost.length} kills` }]
}

export const judge = (evidence: Evidence): ReadonlyArray<Finding> => {
  const allRings = ringsOf(evidence)
  const allRows = Map.groupBy(evidence.rows, ({ number }) => number)
  const ofNumbers = [...new Set([...allRows.keys(), ...allRings.keys()])].flatMap((number) => {
    const rows = (allRows.get(number) ?? []).toSorted((a, b) => a.attempt - b.attempt)
    const rings = allRings.get(number) ?? []
    const complaints = judgeNumber(rows, rings, evidence)
    const story = `${number.slice(-4)}: ${rows.map(({ outcome }) => outcome).join(", ")}; ${JSON.stringify(rings)}`
    return complaints.map(([rule, what]) => ({ rule, what: `${what} (${story})` }))
  })
  return [...ofNumbers, ...judgeCap(evidence), ...judgeDoubts(evidence), ...judgeKills(evidence)]
}
