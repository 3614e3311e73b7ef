/**
 * The conversation as the model sees it: what the callee said, and what they heard. Bounded: the oldest entries are dropped. A tool call and its
 * result are kept or dropped together, because services reject one without the other.
 */
import type { JsonObject } from "#core/Json.ts"
import type { ModelMessage, ModelToolCall } from "#core/model/LanguageModel.ts"
import { jsonSize } from "#core/jsonSize.ts"

export type Entry =
  | { readonly _tag: "User"; readonly text: string; readonly isKeyed: boolean }
  /** `line`: the line that was spoken; undefined for tool calls without text. */
  | {
      readonly _tag: "Assistant"
      readonly line: number | undefined
      readonly text: string
      readonly calls: ReadonlyArray<ModelToolCall>
      readonly wasInterrupted: boolean
      /** See `ModelMessage`. */
      readonly members?: JsonObject
    }
  | {
      readonly _tag: "ToolResult"
      readonly callId: string
      readonly name: string
      readonly result: JsonObject
      readonly isControl: boolean
    }

const mostEntries = 80
const mostCharacters = 32_000
/** In characters as JSON. */
const mostMembers = 131_072
export const longestTurn = 2000
/** The report of what was heard may not know where the line ended. */
const longestLine = 8000

export const userEntry = (text: string, isKeyed = false): Entry => ({
  _tag: "User",
  text: text.slice(0, longestTurn).toWellFormed(),
  isKeyed
})
export const spokenEntry = (line: number, text: string): Entry => ({ _tag: "Assistant", line, text, calls: [], wasInterrupted: false })

/** What a service keeps in a message for itself may be long, and must not displace what was said. */
const sizeOf = (entry: Entry): number => jsonSize(withoutMembers(entry), mostCharacters)

const withoutMembers = (entry: Entry): Entry => {
  if (entry._tag !== "Assistant") return entry
  const { members: _, ...rest } = entry
  return { ...rest, calls: entry.calls.map(({ members: __, ...call }) => call) }
}

/** The newest are kept, up to a limit: services check those of the turn that is under way. */
const withFewerMembers = (entries: ReadonlyArray<Entry>): ReadonlyArray<Entry> => {
  let room = mostMembers
  const isKept = entries.map(() => true)
  for (const [index, entry] of [...entries.entries()].reverse()) {
    if (entry._tag !== "Assistant") continue
    room -= jsonSize([entry.members, entry.calls.map(({ members }) => members)], mostMembers)
    isKept[index] = room >= 0
  }
  return isKept.includes(false) ? entries.map((entry, index) => (isKept[index] === true ? entry : withoutMembers(entry))) : entries
}

export const withEntries = (history: ReadonlyArray<Entry>, ...entries: ReadonlyArray<Entry>): ReadonlyArray<Entry> =>
  shortened([...history, ...entries])

const shortened = (entries: ReadonlyArray<Entry>): ReadonlyArray<Entry> => {
  let size = entries.reduce((sum, entry) => sum + sizeOf(entry), 0)
  let first = 0
  // The last entry stays, together with what belongs to it.
  while (first < entries.length - 1 && (entries.length - first > mostEntries || size > mostCharacters)) {
    do {
      const entry = entries[first++]
      if (entry !== undefined) size -= sizeOf(entry)
    } while (entries[first]?._tag === "ToolResult")
  }
  return withFewerMembers(first === 0 ? entries : entries.slice(first))
}

/** More of the line has been said. */
export const extended = (history: ReadonlyArray<Entry>, line: number, text: string): ReadonlyArray<Entry> =>
  history.map((entry) => (entry._tag === "Assistant" && entry.line === line ? { ...entry, text: entry.text + text } : entry))

/** The callee heard only this much of the line. */
export const cut = (history: ReadonlyArray<Entry>, line: number, heard: string): ReadonlyArray<Entry> =>
  history.map((entry) =>
    entry._tag === "Assistant" && entry.line === line ? { ...entry, text: heard.slice(0, longestLine), wasInterrupted: true } : entry
  )

/** The completion that said the line, or nothing, is complete: it may also have called tools. */
export const completed = (
  history: ReadonlyArray<Entry>,
  line: number | undefined,
  { calls, members }: { readonly calls: ReadonlyArray<ModelToolCall>; readonly members: JsonObject | undefined }
): ReadonlyArray<Entry> => {
  const last = history.at(-1)
  const more = { calls, ...(members === undefined ? {} : { members }) }
  // If the callee has spoken since, the calls become an entry of their own, next to their results.
  if (line !== undefined && last?._tag === "Assistant" && last.line === line)
    return withFewerMembers([...history.slice(0, -1), { ...last, ...more }])
  return calls.length === 0
    ? history
    : withEntries(history, { _tag: "Assistant", line: undefined, text: "", wasInterrupted: false, ...more })
}

/** A line that was not heard at all is left out, unless tools were called with it. */
const isTold = (entry: Entry): boolean => entry._tag !== "Assistant" || entry.text.trim() !== "" || entry.calls.length > 0

export const messagesOf = (history: ReadonlyArray<Entry>): ReadonlyArray<ModelMessage> =>
  history.filter(isTold).map((entry): ModelMessage => {
    if (entry._tag === "User") return { _tag: "User", text: entry.text, ...(entry.isKeyed ? { isKeyed: true } : {}) }
    if (entry._tag === "ToolResult") return { _tag: "ToolResult", callId: entry.callId, name: entry.name, result: entry.result }
    const { calls, members, text, wasInterrupted } = entry
    return { _tag: "Assistant", text, calls, wasInterrupted, ...(members === undefined ? {} : { members }) }
  })

/** Only what was said and what tools returned: an extraction must not draw conclusions from the path through the graph. */
export const factsOf = (history: ReadonlyArray<Entry>): ReadonlyArray<ModelMessage> => {
  const results = new Map(history.flatMap((entry) => (entry._tag === "ToolResult" ? [[entry.callId, entry.isControl] as const] : [])))
  const isKept = (callId: string) => results.get(callId) === false
  return messagesOf(
    history.flatMap((entry): ReadonlyArray<Entry> => {
      if (entry._tag === "Assistant") return [entry.calls.every(({ id }) => isKept(id)) ? entry : withoutCalls(entry, isKept)]
      return entry._tag === "ToolResult" && !isKept(entry.callId) ? [] : [entry]
    })
  )
}

/** What a service keeps in a message may be about the calls that are left out. */
const withoutCalls = (
  { members: _, ...entry }: Extract<Entry, { readonly _tag: "Assistant" }>,
  isKept: (callId: string) => boolean
): Entry => ({
  ...entry,
  calls: entry.calls.filter(({ id }) => isKept(id))
})

/** Whether the callee or a tool is still owed an answer, or an answer was not heard to its end. */
export const isOwed = (history: ReadonlyArray<Entry>): boolean => {
  const last = history.findLast(isTold)
  return last !== undefined && (last._tag !== "Assistant" || last.wasInterrupted)
}
