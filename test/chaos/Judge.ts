/**
 * Judges a campaign that went through chaos. The callee's log is the witness; what the engine recorded is compared with it, never trusted.
 * Pure, so that its own tests can show, for each rule, a story that breaks it.
 */
import {
  clearMillis,
  type Evidence,
  type Named,
  overlaps,
  type Recorded,
  type Request,
  seenCalls,
  type SeenCall,
  type Span
} from "./Evidence.ts"

interface Finding {
  readonly rule: Rule
  readonly what: string
}
export interface Verdict {
  readonly findings: ReadonlyArray<Finding>
  /** How many attempts became `unknown`, by explanation. */
  readonly explained: Readonly<Record<string, number>>
  /** Calls that appeared after they had been written off. */
  readonly late: number
}

/** How long an actor may take to hang up a call that should not be there. */
const hangUpMillis = 5_000
/** An event that had this long to reach the engine has reached it. */
const toldMillis = 2_000
/** A kill between the mark that a request leaves and its first byte leaves an attempt that looks as if the request had left. */
const killedInTheActMillis = 2_000
/** How long before its moment a contact may be marked: where claims take long, and for the first second after a takeover. */
const markedAheadMillis = 5_000

interface Case extends Evidence {
  readonly calls: ReadonlyArray<SeenCall>
  readonly byId: ReadonlyMap<string, Recorded>
  readonly requestOf: ReadonlyMap<string, Request>
}
type Inspect = (facts: Case) => ReadonlyArray<string>

/** A call that appeared after its attempt had been written off. */
const isLate = ({ byId }: Case, call: SeenCall) => (byId.get(call.id)?.overAt ?? Number.POSITIVE_INFINITY) < call.from
const short = (id: string) => id.slice(-12)
const seconds = (millis: number) => `${(millis / 1000).toFixed(2)} s`
const byNumber = ({ calls }: Case) => Map.groupBy(calls, ({ number }) => number)

const dialedOnce: Inspect = ({ byId, calls }) =>
  calls.flatMap(({ from, id, number }, index) => {
    const attempt = byId.get(id)
    if (attempt === undefined) return [`call ${short(id)} is of no attempt`]
    if (attempt.number !== number) return [`call ${short(id)} is of another contact's attempt`]
    if (attempt.state === "void") return [`attempt ${short(id)} is void and was dialed`]
    return calls.findIndex((call) => call.id === id) === index ? [] : [`attempt ${short(id)} was dialed again at ${from}`]
  })

const oneAtOnce: Inspect = (facts) =>
  [...byNumber(facts).values()].flatMap((calls) =>
    calls.flatMap((call, index) =>
      calls
        .slice(index + 1)
        .flatMap((other) => (overlaps(call, other) ? [`${short(call.id)} and ${short(other.id)} were up together`] : []))
    )
  )

/** Whether a request certainly has no further consequences: it never left, Asterisk itself refused it, or its call has ended. */
const isSettledBefore = ({ calls, requestOf }: Case, id: string, at: number): boolean => {
  const request = requestOf.get(id)
  const call = calls.find((each) => each.id === id)
  if (call !== undefined) return call.until <= at
  return request === undefined || (request.told !== undefined && request.told >= 400)
}
const noRedialInDoubt: Inspect = (facts) => {
  const attempts = Map.groupBy(facts.attempts, ({ number }) => number)
  return facts.calls.flatMap(({ from, id, number }) => {
    const own = facts.byId.get(id)
    if (own === undefined) return []
    return (attempts.get(number) ?? [])
      .filter((earlier) => earlier.id !== id && earlier.campaignId === own.campaignId && earlier.beganAt < own.beganAt)
      .filter((earlier) => !isSettledBefore(facts, earlier.id, from))
      .map((earlier) => `${short(id)} was dialed although ${short(earlier.id)}, of the same contact, was not settled`)
  })
}

const answeredOnce: Inspect = (facts) =>
  [...byNumber(facts).values()].flatMap((calls) =>
    calls.flatMap((call, index) => {
      const campaign = facts.byId.get(call.id)?.campaignId
      const again = calls.slice(index + 1).find((other) => campaign !== undefined && facts.byId.get(other.id)?.campaignId === campaign)
      return call.answeredAt === undefined || again === undefined ? [] : [`${short(call.id)} was answered, and ${short(again.id)} dialed`]
    })
  )

/** When a call was first unattended: when our record said that it was over, or when the process that had answered it was killed. */
const leftAt = (facts: Case, { answeredAt, from, id, until }: SeenCall): number => {
  const overAt = facts.byId.get(id)?.overAt ?? Number.POSITIVE_INFINITY
  const killed = facts.kills.find((at) => answeredAt !== undefined && at > answeredAt && at < until)
  return Math.max(from, Math.min(overAt, killed ?? Number.POSITIVE_INFINITY))
}
/** When no engine could hear anything. */
const toAll = ({ deaf }: Case) => deaf.filter(({ application }) => application === undefined)
const noneUnattended: Inspect = (facts) =>
  facts.calls.flatMap((call) => {
    const from = leftAt(facts, call)
    const millis = from < call.until ? clearMillis({ from, until: call.until }, [...toAll(facts), ...facts.busy]) : 0
    return millis > hangUpMillis ? [`${short(call.id)} went on for ${seconds(millis)} with nobody there`] : []
  })

/** The largest number of simultaneous calls. */
const mostAtOnce = (calls: ReadonlyArray<SeenCall>): number => {
  const steps = calls.flatMap(({ from, until }) => [
    { at: from, change: 1 },
    { at: until, change: -1 }
  ])
  let live = 0
  let most = 0
  // At the same instant, an end comes first.
  for (const { change } of steps.toSorted((a, b) => a.at - b.at || a.change - b.change)) most = Math.max(most, (live += change))
  return most
}
/** The largest number of simultaneous calls of the organization and of each campaign, next to the cap. Late calls do not count. */
const loadsOf = (facts: Case) => {
  const counted = facts.calls.filter((call) => !isLate(facts, call))
  const ofCampaign = (id: number) => counted.filter((call) => facts.byId.get(call.id)?.campaignId === id)
  return [
    { cap: facts.organizationCap, most: mostAtOnce(counted), who: "the organization" },
    ...facts.campaigns.map(({ cap, id }) => ({ cap, most: mostAtOnce(ofCampaign(id)), who: `campaign ${id}` }))
  ]
}
const capsHold: Inspect = (facts) =>
  loadsOf(facts).flatMap(({ cap, most, who }) => (most > cap ? [`${who}: ${most} calls at once, ${cap} allowed`] : []))

/** When the engine dialed: when its request was written, or, if no proxy saw that, when the callee saw the call. */
const dialsOf = ({ byId, calls, requests }: Case, campaignId: number) => {
  const written = new Set(requests.map(({ id }) => id))
  return [
    ...requests.map(({ at, id }) => ({ at, id })),
    ...calls.filter(({ id }) => !written.has(id)).map(({ from, id }) => ({ at: from, id }))
  ].filter(({ id }) => byId.get(id)?.campaignId === campaignId)
}
const noneIn = (facts: Case, campaignId: number, spans: ReadonlyArray<Span>) =>
  dialsOf(facts, campaignId).flatMap(({ at, id }) =>
    spans
      .filter(({ from, until }) => at > from + facts.lateMillis && at < until)
      .map(({ from }) => `${short(id)} left ${seconds(at - from)} after it was forbidden`)
  )
const windowHolds: Inspect = (facts) => facts.campaigns.flatMap(({ closed, id }) => noneIn(facts, id, closed))
const pauseHolds: Inspect = (facts) => facts.campaigns.flatMap(({ id, pauses }) => noneIn(facts, id, pauses))

const allFinal: Inspect = ({ attempts, calls, campaigns }) => [
  ...campaigns.flatMap(({ contacts, id, state }) => [
    ...(state === "completed" ? [] : [`campaign ${id} is ${state}`]),
    ...contacts.flatMap((contact, index) =>
      ["completed", "failed", "cancelled"].includes(contact.state) ? [] : [`contact ${index + 1} of campaign ${id} is ${contact.state}`]
    )
  ]),
  ...attempts.flatMap(({ id, state }) => (state === "ended" || state === "void" ? [] : [`attempt ${short(id)} is ${state}`])),
  ...calls.flatMap(({ id, isOver }) => (isOver ? [] : [`call ${short(id)} is still up`]))
]

/** When nothing about this call could reach an engine: Asterisk tells of a call only the engine that asked for it. */
const deafTo = ({ deaf, requestOf }: Case, id: string): ReadonlyArray<Named> =>
  deaf.filter(({ application }) => application === undefined || application === requestOf.get(id)?.application)
const isNear = (moments: ReadonlyArray<number>, { from, until }: Span) =>
  moments.find((at) => at >= from - killedInTheActMillis && at <= until + killedInTheActMillis) !== undefined
/** The reason closest to this moment is the likeliest. */
const nearestTo = (at: number, reasons: ReadonlyArray<Named>): Named | undefined => {
  const away = ({ from, until }: Span) => Math.max(0, from - at, at - until)
  return reasons.toSorted((a, b) => away(a) - away(b))[0]
}
/** When an event of this moment has reached the engine and its database, which may be away. */
const recordedAt = ({ busy }: Case, at: number): number => {
  const away = busy.toSorted((a, b) => a.from - b.from)
  return away.reduce((until, span) => (span.from < until ? Math.max(until, span.until + toldMillis) : until), at + toldMillis)
}
/** Fates after which the engine still learns the truth, however late. */
const harmless = /^(pass|held)/
/** Why nobody can know what became of it; or, after `!`, why the engine should have known. */
const explanationOf = (facts: Case, { beganAt, id, overAt = Number.POSITIVE_INFINITY }: Recorded): string => {
  const request = facts.requestOf.get(id)
  const call = facts.calls.find((each) => each.id === id)
  const life = { from: beganAt, until: beganAt + markedAheadMillis }
  if (request === undefined && call === undefined) {
    if (isNear(facts.kills, life)) return "killed between the mark and the first byte"
    return isNear(facts.cuts, life) ? "cut as it was written" : "!its request never left"
  }
  if (call?.isOver === true && call.until + toldMillis < overAt) {
    const told = { from: call.until, until: call.until + toldMillis }
    if (clearMillis(told, [...deafTo(facts, id), ...facts.busy]) >= toldMillis) return "!the engine was told of its end"
  }
  if (request?.fate !== undefined && !harmless.test(request.fate)) return request.fate
  const silence = {
    from: (request?.at ?? call?.from ?? beganAt) - killedInTheActMillis,
    until: Math.min(overAt, recordedAt(facts, call?.until ?? overAt))
  }
  const nearest = nearestTo(call?.until ?? request?.at ?? beganAt, [
    ...deafTo(facts, id).filter((span) => overlaps(span, silence)),
    ...facts.cuts.filter((at) => isNear([at], silence)).map((at) => ({ from: at, name: "cut", until: at }))
  ])
  if (nearest !== undefined) return nearest.name
  return request?.fate !== undefined && request.fate !== "pass" ? request.fate : "!nothing explains it"
}
const unknownsOf = (facts: Case) =>
  facts.attempts.filter(({ outcome }) => outcome === "unknown").map((attempt) => ({ id: attempt.id, why: explanationOf(facts, attempt) }))
const allExplained: Inspect = (facts) =>
  unknownsOf(facts).flatMap(({ id, why }) => (why.startsWith("!") ? [`${short(id)} is unknown although: ${why.slice(1)}`] : []))

const inOrder = (counters: object) => JSON.stringify(Object.entries(counters).toSorted())
const countersTrue: Inspect = ({ campaigns }) =>
  campaigns.flatMap(({ id, recounted, shown }) => {
    const [said, is] = [inOrder(shown), inOrder(recounted)]
    return said === is ? [] : [`campaign ${id} shows ${said}, a recount gives ${is}`]
  })

const caseOf = (evidence: Evidence): Case => ({
  ...evidence,
  calls: seenCalls(evidence.log),
  byId: new Map(evidence.attempts.map((attempt) => [attempt.id, attempt])),
  requestOf: new Map(evidence.requests.map((request) => [request.id, request]))
})

const sum = <A>(all: ReadonlyArray<A>, of: (one: A) => ReadonlyArray<unknown>) => all.reduce((total, one) => total + of(one).length, 0)

/** Each rule, how it is judged, and how much evidence it was judged on: a rule without any has proved nothing. */
const judged = {
  "every dial belongs to a recorded attempt, and each attempt is dialed once": [dialedOnce, ({ calls }) => `${calls.length} calls`],
  "no contact and no phone has two calls at once": [oneAtOnce, (facts) => `${byNumber(facts).size} phones`],
  "nobody is dialed again while an earlier request may still become a call": [
    noRedialInDoubt,
    (facts) => `${facts.calls.length - byNumber(facts).size} redials`
  ],
  "nobody who has answered is dialed again": [
    answeredOnce,
    ({ calls }) => `${calls.filter(({ answeredAt }) => answeredAt !== undefined).length} answers`
  ],
  "no call lasts longer than 5 s without an actor": [
    noneUnattended,
    (facts) => `${facts.calls.filter((call) => leftAt(facts, call) < call.until).length} such calls`
  ],
  "caps hold, except for late calls that are hung up within 5 s": [
    capsHold,
    (facts) =>
      loadsOf(facts)
        .map(({ cap, most, who }) => `${who}: ${most} of ${cap}`)
        .join(", ")
  ],
  "nothing is dialed outside the calling window": [
    windowHolds,
    ({ campaigns }) => `closed ${sum(campaigns, ({ closed }) => closed)} times`
  ],
  "nothing is dialed after a confirmed pause": [pauseHolds, ({ campaigns }) => `${sum(campaigns, ({ pauses }) => pauses)} pauses`],
  "every contact and attempt ends in a final state, and no call is left up": [
    allFinal,
    ({ attempts, campaigns }) => `${sum(campaigns, ({ contacts }) => contacts)} contacts, ${attempts.length} attempts`
  ],
  "every unknown outcome is explained": [
    allExplained,
    (facts) => `${unknownsOf(facts).filter(({ why }) => !why.startsWith("!")).length} of ${unknownsOf(facts).length}`
  ],
  "the counters match a recount": [countersTrue, ({ campaigns }) => `${campaigns.length} campaigns`]
} satisfies Readonly<Record<string, readonly [inspect: Inspect, figure: (facts: Case) => string]>>
export type Rule = keyof typeof judged
// The cast holds because the object has no other keys.
export const rules = Object.keys(judged) as ReadonlyArray<Rule>

export const figuresOf = (evidence: Evidence): Readonly<Record<string, string>> => {
  const facts = caseOf(evidence)
  return Object.fromEntries(rules.map((rule) => [rule, judged[rule][1](facts)]))
}

export const judge = (evidence: Evidence): Verdict => {
  const facts = caseOf(evidence)
  const explained: Record<string, number> = {}
  for (const { why } of unknownsOf(facts)) if (!why.startsWith("!")) explained[why] = (explained[why] ?? 0) + 1
  return {
    explained,
    findings: rules.flatMap((rule) => judged[rule][0](facts).map((what) => ({ rule, what }))),
    late: facts.calls.filter((call) => isLate(facts, call)).length
  }
}
