/**
 * What the journals of former processes say. A journal is closed before it is read: its folder is renamed and its files are made read-only.
 * A process that is still alive sees by this that what it has just written may not have been read, and sends nothing more.
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
}

/** What the journals say about a call. */
export interface KnownCall {
  /** `unsure`: the journal is missing, damaged, or from an earlier boot. */
  left: "left" | "never_left" | "unsure"
  /** The provider certainly had the call. */
  placed: boolean
  /** Whom it dials; undefined for a single call, or where an older release wrote the journal. */
  contact: DialedContact | undefined
  /** Endpoint that the request was sent to, if there are several. */
  endpoint: string | undefined
  /** The provider's own id of the call, if the provider said it. */
  providerCallId: string | undefined
  /** When the request left, in milliseconds since the current boot of the machine, a clock that nobody can set; undefined after another boot. */
  leftAtUptime: number | undefined
  /** Epoch milliseconds. */
  answeredAt: number | undefined
  /** When its process wrote the latest time of an event: it was still alive then. Epoch milliseconds. */
  aliveAt: number | undefined
  /** When its audio ended, if it has not come back; epoch milliseconds. */
  mutedAt: number | undefined
  /** Its callee had said that they must not be called again. */
  hasOptedOut: boolean
  /** How many transfers of it have been asked for. */
  transfers: number | undefined
  /** How the call ended. The database may not have it yet. */
  end: AttemptEnd | undefined
  undone: Undone | undefined
}

interface JournalHeader {
  readonly journalId: string
  readonly boot: string | undefined
}
/** Written in place of an endpoint where there is only one. */
export const NO_ENDPOINT = "-"
/** Written in place of a time when the audio of a call has come back. */
export const NOT_MUTED = "-"
/** Whom a call dials, as a word of its line. */
export const contactText = ({ campaignId, rowNo, telephonyConfigurationId }: DialedContact): string =>
  `${campaignId}.${rowNo}.${telephonyConfigurationId}`
const contactWord = /^(\d+)\.(\d+)\.(\d+)$/
const contactOf = (word: string): DialedContact | undefined => {
  const [, campaign, row, configuration] = contactWord.exec(word) ?? []
  if (campaign === undefined) return undefined
  return {
    campaignId: CampaignId.make(Number(campaign)),
    rowNo: Number(row),
    telephonyConfigurationId: TelephonyConfigId.make(Number(configuration))
  }
}

export const headerText = ({ boot, journalId }: JournalHeader): string => `journal 1 ${journalId} ${boot ?? "unknown"}`

interface Former {
  readonly folder: string
  /** Whether a call that the journal does not name certainly never left. */
  readonly provesAbsence: boolean
  readonly calls: ReadonlyMap<string, KnownCall>
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

  /** Closes and reads all journals in `folder`. `boot` is the current boot of the machine. */
  constructor(folder: string, boot: string | undefined) {
    for (const name of readdirSync(folder)) {
      const [, journalId, closed] = journalFolder.exec(name) ?? []
      if (journalId === undefined) continue
      const path = join(folder, journalId + CLOSED)
      if (closed === undefined) renameSync(join(folder, name), path)
      this.#journals.set(journalId, readJournal(path, { boot, journalId }))
    }
  }

  /** `journal` is the journal of the process that was to send the call. */
  known(callId: CallId, journal: string | undefined): KnownCall {
    const known = nothingKnown()
    if (journal !== undefined && this.#journals.get(journal)?.provesAbsence === true) known.left = "never_left"
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

  /** The calls of campaigns that have left. */
  *dialed(): Generator<readonly [CallId, DialedContact]> {
    // The keys are the ids that calls left with.
    for (const { calls } of this.#journals.values()) {
      for (const [callId, { contact }] of calls) {
        // The cast holds because calls leave with their ids.
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
    // If this fails, the journal is only read once more at the next start.
    Result.try(() => rmSync(folder, { force: true, recursive: true }))
  }
}

const readJournal = (folder: string, expected: JournalHeader): Former => {
  const calls = new Map<string, KnownCall>()
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
    if (Result.isFailure(text) || !readFile(text.success, expected, calls)) provesAbsence = false
  }
  const times = [...calls.values()].flatMap(({ answeredAt, mutedAt }) => [answeredAt, mutedAt].filter((at) => at !== undefined))
  const aliveAt = times.length === 0 ? undefined : times.reduce((latest, at) => Math.max(latest, at))
  return { aliveAt, calls, folder, open: new Set(), provesAbsence }
}

/** False when lines may be missing. */
const readFile = (text: string, expected: JournalHeader, calls: Map<string, KnownCall>): boolean => {
  const { isDamaged, lines, torn } = readLines(text)
  const [header, ...said] = lines
  const isOfThisBoot = expected.boot !== undefined && header === headerText(expected)
  for (const line of said) readLine(line, calls, isOfThisBoot)
  // A call leaves only once its line is whole, but a torn line that names one in full is believed all the same.
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
