/** What is known of a campaign that went through chaos, from the witnesses: the callees, the proxies, the database, the operator. */
import type { CalleeEntry } from "#test/emulators/shared/CalleeLog.ts"

/** All times are milliseconds since the epoch on the clock of the callees' log. */
export interface Span {
  readonly from: number
  readonly until: number
}
export interface Named extends Span {
  readonly name: string
  /** The Stasis application that it affected; undefined: all of them. */
  readonly application?: string
}

/** A call of the campaigns as the callee saw it, from the originate on. */
export interface SeenCall extends Span {
  readonly id: string
  readonly number: string
  readonly answeredAt: number | undefined
  /** Who ended it; undefined while it is up, and if Asterisk itself dropped it. */
  readonly by: CalleeEntry["by"]
  readonly isOver: boolean
}

/** The final state of a row of `attempts`. */
export interface Recorded {
  readonly id: string
  readonly campaignId: number
  readonly number: string
  readonly state: string
  readonly outcome: string | null
  /** When it was inserted, and when it became `ended` or `void`. */
  readonly beganAt: number
  readonly overAt: number | undefined
}

/** An originate request as the proxy saw it. */
export interface Request {
  readonly id: string
  /** The Stasis application that Asterisk was to tell of the call: that of the engine which sent the request. */
  readonly application?: string
  /** When the engine wrote it. */
  readonly at: number
  /** What the proxy did to it; undefined if it did not get that far. */
  readonly fate: string | undefined
  /** Asterisk's own status, if the engine got it unchanged. */
  readonly told: number | undefined
}

export interface CampaignFacts {
  readonly id: number
  readonly cap: number
  readonly state: string
  readonly contacts: ReadonlyArray<{ readonly number: string; readonly state: string }>
  readonly shown: object
  readonly recounted: object
  /** From the confirmation of each pause until a resume was requested. */
  readonly pauses: ReadonlyArray<Span>
  /** When its window was closed, by the engine's own wall clock. */
  readonly closed: ReadonlyArray<Span>
}

export interface Evidence {
  readonly log: ReadonlyArray<CalleeEntry>
  readonly campaigns: ReadonlyArray<CampaignFacts>
  readonly attempts: ReadonlyArray<Recorded>
  readonly requests: ReadonlyArray<Request>
  readonly organizationCap: number
  /** When no event or list could reach the engine: it was down, stopped or disconnected, or the network was silent. */
  readonly deaf: ReadonlyArray<Named>
  /** When the database was away or the machine was overloaded: the engine could not act on what it heard. */
  readonly busy: ReadonlyArray<Named>
  /** When each process of the engine was killed. */
  readonly kills: ReadonlyArray<number>
  /** When connections were cut, with whatever was in transit on them. */
  readonly cuts: ReadonlyArray<number>
  /** How late a proxy may record what the engine wrote. */
  readonly lateMillis: number
}

/** Milliseconds of a span that none of the others covers. */
export const clearMillis = ({ from, until }: Span, others: ReadonlyArray<Span>): number => {
  let clear = 0
  let at = from
  for (const other of others.toSorted((a, b) => a.from - b.from)) {
    if (other.until <= at) continue
    if (other.from >= until) break
    clear += Math.max(0, other.from - at)
    at = Math.max(at, other.until)
  }
  return clear + Math.max(0, until - at)
}

export const overlaps = (a: Span, b: Span): boolean => a.from < b.until && b.from < a.until

export const seenCalls = (log: ReadonlyArray<CalleeEntry>): ReadonlyArray<SeenCall> => {
  const calls = new Map<string, SeenCall>()
  const open = new Map<string, SeenCall>()
  for (const { at, by, channelId, kind, number } of log) {
    const known = open.get(channelId)
    if (kind === "originate") {
      const call = { answeredAt: undefined, by: undefined, from: at, id: channelId, isOver: false, number, until: Number.POSITIVE_INFINITY }
      open.set(channelId, call)
      // The same id twice counts as two calls, which is a finding.
      calls.set(`${channelId} ${at}`, call)
    } else if (known !== undefined && kind === "answered") replace(known, { answeredAt: at })
    else if (known !== undefined && kind === "ended") replace(known, { by, isOver: true, until: at })
  }
  function replace(call: SeenCall, more: Partial<SeenCall>) {
    const changed = { ...call, ...more }
    open.set(call.id, changed)
    calls.set(`${call.id} ${call.from}`, changed)
  }
  return [...calls.values()].toSorted((a, b) => a.from - b.from)
}
