/**
 * What the journals of earlier processes say. A journal is closed before it is read: its folder is renamed and its files are made read-only. A
 * process that is still alive notices this, knows that its latest lines may not have been read, and sends nothing more.
 */
import type { AttemptEnd } from "#core/call/Attempt.ts"
import type { DialedContact } from "#core/call/LostAttempts.ts"
import { type CallId, CampaignId, TelephonyConfigId } from "#core/Id.ts"
import { Result } from "effect"
import { chmodSync, readdirSync, readFileSync, renameSync, rmSync } from "node:fs"
import { join } from "node:path"
import { readLines } from "./JournalLine.ts"

/** The call was certainly never placed. */
export interface Undone {
  /** Epoch milliseconds. */
  readonly at: number
  readonly breakerEntry: boolean
  /** The contacts behind it are to be dialed first. */
  readonly isLast?: boolean
}

/** What the journals say about a call. */
export interface KnownCall {
  /** `unsure`: the journal is missing, damaged, or from an earlier boot. */
  left: "left" | "never_left" | "unsure"
  /** The provider certainly had the call. */
  placed: boolean
  /** The contact it dials; undefined for a single call, or if an older release wrote the journal. */
  contact: DialedContact | undefined
  /** The endpoint that the request was sent to, if there are several. */
  endpoint: string | undefined
  /** The provider's own id for the call, if the provider reported one. */
  providerCallId: string | undefined
  /** When the request was sent, in milliseconds since the machine's current boot, a clock that nobody can set; undefined after a reboot. */
  leftAtUptime: number | undefined
  /** Epoch milliseconds. */
  answeredAt: number | undefined
  /** The latest event time that its process wrote, in epoch milliseconds: the process was still alive then. */
  aliveAt: number | undefined
  /** When its audio ended, if it has not come back; epoch milliseconds. */
  mutedAt: number | undefined
  /** The callee had asked not to be called again. */
  hasOptedOut: boolean
  /** How many transfers of the call were requested. */
  transfers: number | undefined
  /** How the call ended. The database may not have it yet. */
  end: AttemptEnd | undefined
  undone: Undone | undefined
}

interface JournalHeader {
  readonly journalId: string
  readonly boot: string | undefined
}
/** Written in place of an endpoint if there is only one. */
export const NO_ENDPOINT = "-"
/** Written in place of a time when a call's audio has come back. */
export const NOT_MUTED = "-"
/** The contact that a call dials, as a word of its line. */
export const contactText = ({ campaignId, carrier, rowNo, telephonyConfigurationId }: DialedContact): string =>
  `${campaignId}.${rowNo}.${telephonyConfigurationId}${carrier === undefined ? "" : `.${carrier}`}`
const contactWord = /^(\d+)\.(\d+)\.(\d+)(?:\.([0-9a-f-]{36}))?$/
const contactOf = (word: string): DialedContact | undefined => {
  const [, campaign, row, configuration, carrier] = contactWord.exec(word) ?? []
  if (campaign === undefined) return undefined
  return {
    campaignId: CampaignId.make(Number(campaign)),
    rowNo: Number(row),
    telephonyConfigurationId: TelephonyConfigId.make(Number(configuration)),
    ...(carrier !== undefined && { carrier })
  }
}

/** The time, in epoch milliseconds, orders the promises of several journals. */
export const promiseText = (at: number, text: string): string => `promised ${at} ${text}`
const promisePattern = /^promised (\d+) (\S+)$/

/** The journal no longer mentions some calls up to this one. Call ids sort by when the calls began. */
export const forgottenText = (callId: string): string => `forgotten ${callId}`
const forgottenPattern = /^forgotten (\S+)$/

interface MadePromise {
  /** Epoch milliseconds. */
  readonly at: number
  readonly text: string
}

export const headerText = ({ boot, journalId }: JournalHeader): string => `journal 1 ${journalId} ${boot ?? "unknown"}`

interface Former {
  readonly folder: string
  /** Whether a call after `forgotten` that the journal does not mention was certainly never sent. */
  readonly provesAbsence: boolean
  readonly forgotten: string
  readonly calls: ReadonlyMap<string, KnownCall>
  readonly promises: ReadonlyArray<MadePromise>
  readonly aliveAt: number | undefined
  /** Attempts that still need the journal. */
  readonly open: Set<string>
}

export const nothingKnown = (): KnownCall => ({
  aliveAt: undefined,
  answeredAt: undefined,
  contact: undefined,
  end: undefined,
  endpoint: undefined,
  hasOptedOut: false,
  leftAtUptime: undefined,
  left: "unsure",
  mutedAt: undefined,
  placed: false,
  providerCallId: undefined,
  transfers: undefined,
  undone: undefined
})

const CLOSED = ".closed"
const READ_ONLY = 0o400
const journalFolder = /^([0-9a-f-]{36})(\.closed)?$/
const idLength = 36

export class FormerJournals {
  readonly #journals = new Map<string, Former>()
  /** In order, including those of journals that have since been removed. */
  readonly promises: ReadonlyArray<string>

  /** Closes and reads all journals in `folder`. `boot` is the current boot of the machine. */
  constructor(folder: string, boot: string | undefined) {
    for (const name of readdirSync(folder)) {
      const [, journalId, closed] = journalFolder.exec(name) ?? []
      if (journalId === undefined) continue
      const path = join(folder, journalId + CLOSED)
      if (closed === undefined) renameSync(join(folder, name), path)
      this.#journals.set(journalId, readJournal(path, { boot, journalId }))
    }
    const made = [...this.#journals.values()].flatMap(({ promises }) => promises)
    this.promises = made.toSorted((one, other) => one.at - other.at).map(({ text }) => text)
  }

  /** `journal`: the journal of the process that was to send the call. */
  known(callId: CallId, journal: string | undefined): KnownCall {
    const known = nothingKnown()
    const own = journal === undefined ? undefined : this.#journals.get(journal)
    if (own?.provesAbsence === true && callId > own.forgotten) known.left = "never_left"
    for (const { aliveAt, calls } of this.#journals.values()) {
      const told = calls.get(callId)
      if (told === undefined) continue
      if (told.left === "left") known.left = "left"
      known.placed ||= told.placed
      known.hasOptedOut ||= told.hasOptedOut
      known.endpoint ??= told.endpoint
      known.providerCallId ??= told.providerCallId
      known.leftAtUptime ??= told.leftAtUptime
      known.answeredAt ??= told.answeredAt
      known.contact ??= told.contact
      known.aliveAt ??= aliveAt
      known.mutedAt ??= told.mutedAt
      known.transfers ??= told.transfers
      known.end ??= told.end
      known.undone ??= told.undone
    }
    return known
  }

  ids(): ReadonlySet<string> {
    return new Set(this.#journals.keys())
  }

  sent(callId: CallId): boolean {
    for (const { calls } of this.#journals.values()) if (calls.get(callId)?.left === "left") return true
    return false
  }

  /** The campaign calls that were sent. */
  *dialed(): Generator<readonly [CallId, DialedContact]> {
    for (const { calls } of this.#journals.values()) {
      for (const [callId, { contact }] of calls) {
        // The cast holds because lines are written with call ids.
        if (contact !== undefined) yield [callId as CallId, contact]
      }
    }
  }

  /** Given all attempts that are not over, removes the journals that none of them needs. */
  keepFor(attempts: ReadonlyArray<{ readonly callId: string; readonly journal: string | undefined }>): void {
    for (const [id, former] of this.#journals) {
      for (const { callId, journal } of attempts) if (journal === id || former.calls.has(callId)) former.open.add(callId)
      this.#dropUnneeded(id, former)
    }
  }

  settled(callId: string): void {
    for (const [id, former] of this.#journals) if (former.open.delete(callId)) this.#dropUnneeded(id, former)
  }

  #dropUnneeded(id: string, { folder, open }: Former): void {
    if (open.size > 0) return
    this.#journals.delete(id)
    // If this fails, the journal is merely read once more at the next start.
    Result.try(() => rmSync(folder, { force: true, recursive: true }))
  }
}

const readJournal = (folder: string, expected: JournalHeader): Former => {
  const calls = new Map<string, KnownCall>()
  const promises: Array<MadePromise> = []
  const forgotten: Array<string> = []
  let provesAbsence = expected.boot !== undefined
  const names = Result.getOrElse(
    Result.try(() => readdirSync(folder)),
    () => []
  )
  if (!names.some((name) => name.startsWith("calls."))) provesAbsence = false
  for (const name of names) {
    const text = Result.try(() => {
      const path = join(folder, name)
      chmodSync(path, READ_ONLY)
      return readFileSync(path, "utf8")
    })
    if (Result.isFailure(text) || !readFile(text.success, expected, { calls, forgotten, promises })) provesAbsence = false
  }
  const times = [...calls.values()].flatMap(({ answeredAt, mutedAt }) => [answeredAt, mutedAt].filter((at) => at !== undefined))
  const aliveAt = times.length === 0 ? undefined : times.reduce((latest, at) => Math.max(latest, at))
  return { aliveAt, calls, folder, forgotten: forgotten.toSorted().at(-1) ?? "", open: new Set(), promises, provesAbsence }
}

interface Read {
  readonly calls: Map<string, KnownCall>
  readonly forgotten: Array<string>
  readonly promises: Array<MadePromise>
}

/** False if lines may be missing. */
const readFile = (text: string, expected: JournalHeader, { calls, forgotten, promises }: Read): boolean => {
  const { isDamaged, lines, torn } = readLines(text)
  const [header, ...said] = lines
  const isOfThisBoot = expected.boot !== undefined && header === headerText(expected)
  for (const line of said) {
    const [, at, promise] = promisePattern.exec(line) ?? []
    const [, latest] = forgottenPattern.exec(line) ?? []
    if (promise !== undefined) promises.push({ at: Number(at), text: promise })
    else if (latest !== undefined) forgotten.push(latest)
    else readLine(line, calls, isOfThisBoot)
  }
  // A call is sent only once its line is complete, but a torn line that contains a full call id is believed anyway.
  if (torn.startsWith("left ") && torn.length >= "left ".length + idLength) readLine(torn.slice(0, "left ".length + idLength), calls, false)
  return !isDamaged && (header === headerText(expected) || (header === undefined && torn === ""))
}

const readLine = (line: string, calls: Map<string, KnownCall>, isOfThisBoot: boolean): void => {
  const [word, callId = "", first = "", second = "", third = ""] = line.split(" ", 5)
  const known = calls.get(callId) ?? nothingKnown()
  calls.set(callId, known)
  switch (word) {
    case "left":
      known.left = "left"
      if (first !== "" && first !== NO_ENDPOINT) known.endpoint = first
      if (isOfThisBoot && second !== "") known.leftAtUptime = Number(second)
      known.contact = contactOf(third)
      return
    case "placed":
      known.left = "left"
      known.placed = true
      return
    case "named":
      known.left = "left"
      known.placed = true
      known.providerCallId = first
      return
    case "answered":
      known.left = "left"
      known.placed = true
      known.answeredAt = Number(first)
      return
    case "muted":
      known.mutedAt = first === NOT_MUTED ? undefined : Number(first)
      return
    case "opted_out":
      known.hasOptedOut = true
      return
    case "handed":
      known.transfers = Number(first)
      return
    case "undone":
      known.undone = { at: Number(first), breakerEntry: second === "true" }
      return
    case "ended":
      // The checksum guarantees that this is an AttemptEnd as it was written.
      known.end = JSON.parse(line.slice(`ended ${callId} `.length)) as AttemptEnd
  }
}
