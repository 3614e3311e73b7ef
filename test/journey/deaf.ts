/** Whom the agent has not reached with its voice, by what a carrier's callees have heard. */
import type { CalleeLog } from "#test/emulators/shared/CalleeLog.ts"

/** The mu-law code of silence. */
const SILENCE = 0xff

export const callsIn = (log: CalleeLog, kind: "originate" | "answered" = "originate"): ReadonlyArray<string> =>
  log.entries.flatMap((entry) => (entry.kind === kind ? [entry.channelId] : []))

/** Those of these calls whose callees have heard nothing but silence. */
export const deafIn = (log: CalleeLog, calls: Iterable<string>): ReadonlyArray<string> =>
  [...calls].filter((channelId) => !log.heard(channelId).some((byte) => byte !== SILENCE))
