/** When requests left, for tests that learn of them later: a busy kernel may deliver a request after an answer that was sent after it. */
import { readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { setImmediate } from "node:timers/promises"
import { type CalleeEntry, type CalleeLog, mostWithin } from "#test/emulators/shared/CalleeLog.ts"
import { nowMillis } from "./until.ts"

interface Moment {
  /** The time on the clock of the callees' log. */
  readonly at: number
  /** Milliseconds since the machine was booted. */
  readonly uptime: number
}

/**
 * By call: what the engine recorded right before the first byte of each request, in milliseconds since the machine was booted. Of a call that a call
 * node carries, the dispatcher has recorded before that when it allowed the request.
 */
export const leftAt = (dataDirs: ReadonlyArray<string>): ReadonlyMap<string, number> => {
  const files = dataDirs.flatMap((dataDir) => readdirSync(join(dataDir, "journal"), { recursive: true, withFileTypes: true }))
  const texts = files.filter((entry) => entry.isFile()).map((entry) => readFileSync(join(entry.parentPath, entry.name), "utf8"))
  const left = new Map<string, number>()
  for (const text of texts)
    for (const [, id = "", uptime] of text.matchAll(/^left (\S+) \S+ (\d+)/gm)) left.set(id, Math.max(left.get(id) ?? 0, Number(uptime)))
  return left
}

/** A new connection is accepted in one turn of the event loop, and its request read in another. */
const turns = 8

/**
 * Settles when this process has read everything that had reached it before. On a busy machine, requests wait in its sockets: without this, a
 * dial that left before a pause was answered might be recorded after the answer.
 */
const backlogRead = async (): Promise<void> => {
  for (let turn = 0; turn < turns; turn++) await setImmediate()
}

/** The current moment, once this process has read everything that had reached it. */
export const momentNow = async (): Promise<Moment> => {
  const uptime = Number(process.hrtime.bigint() / 1_000_000n)
  await backlogRead()
  return { at: nowMillis(), uptime }
}

/** The dials that arrived after the moment and had not left before it. */
export const leftAfter = (dataDirs: ReadonlyArray<string>, dials: ReadonlyArray<CalleeEntry>, { at, uptime }: Moment) => {
  const left = leftAt(dataDirs)
  return dials.filter((dial) => dial.at > at && (left.get(dial.channelId) ?? Number.POSITIVE_INFINITY) > uptime)
}

/**
 * The highest number of dials that left within a second, with a tolerance: a busy machine may have moved some of them closer together, by up
 * to a fifth of a second. The bench `rate` measures without it.
 */
export const mostLeftInASecond = (world: { readonly dataDir: string; readonly emulator: { readonly log: CalleeLog } }): number => {
  const left = leftAt([world.dataDir])
  const untold = world.emulator.log.entries.filter(({ channelId, kind }) => kind === "originate" && !left.has(channelId))
  if (untold.length > 0) throw new Error(`the journal does not say when ${untold.length} dials left`)
  return mostWithin(
    [...left.values()].toSorted((a, b) => a - b),
    800
  )
}
