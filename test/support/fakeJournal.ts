/** The local journal of the in-memory world. */
import type { CallId } from "#core/Id.ts"
import { nothingKnown } from "#runtime/journal/FormerJournals.ts"
import type { LocalJournal } from "#runtime/journal/LocalJournal.ts"
import type { World } from "./fakes.ts"

const FROZEN_MILLIS = 300

export const journalOf = (world: Pick<World, "freezes" | "isDiskFull" | "journal" | "left" | "realMillis">): LocalJournal["Service"] => {
  const left = new Set<CallId>()
  const withheld = new Set<CallId>()
  return {
    answered: () => void world.journal.push("answered"),
    dialed: () => new Map(),
    recent: () => [],
    sentBefore: () => false,
    handed: () => {},
    muted: (_, at) => void world.journal.push(at === undefined ? "audio is back" : "audio has ended"),
    ended: () => {},
    earlier: () => new Set(),
    forgottenUntil: () => Number.NEGATIVE_INFINITY,
    failure: () => (world.isDiskFull ? "ENOSPC" : undefined),
    id: "00000000-0000-4000-8000-000000000001",
    keepFor: () => {},
    known: () => ({ ...nothingKnown(), left: world.left }),
    left: (callId) => {
      if (world.isDiskFull || withheld.has(callId)) return false
      left.add(callId)
      if (world.freezes > 0) {
        world.freezes--
        world.realMillis += FROZEN_MILLIS
      }
      return true
    },
    named: (_, providerCallId) => void world.journal.push(`named ${providerCallId}`),
    optedOut: () => void world.journal.push("opted out"),
    placed: () => void world.journal.push("placed"),
    promised: () => {},
    promises: [],
    refused: () => true,
    settled: () => {},
    undone: () => void world.journal.push("undone"),
    watch: () => () => {},
    withhold: (callId) => !left.has(callId) && withheld.add(callId) !== undefined
  }
}
