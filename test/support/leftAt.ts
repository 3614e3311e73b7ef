/** When requests left, for judges that are told of them later: a busy kernel may deliver a request after an answer that was sent after it. */
import { readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { type CalleeEntry, type CalleeLog, mostWithin } from "#test/emulators/shared/CalleeLog.ts"
import { backlogRead } from "./backlog.ts"
import { nowMillis } from "./until.ts"

interface Moment {
  /** On the clock of the callees' log. */
  readonly at: number
  /** Milliseconds since the machine was booted. */
  readonly uptime: number
}

/** By call: what the engine noted right before the first byte of each request, in milliseconds since the machine was booted. */
export const leftAt = ({ dataDir }: { readonly dataDir: string }): ReadonlyMap<string, number> => {
  const folder = join(dataDir, "journal")
  const files = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile())
  const texts = files.map((entry) => readFileSync(join(entry.parentPath, entry.name), "utf8"))
  return new Map(
    texts.flatMap((text) => [...text.matchAll(/^left (\S+) \S+ (\d+)/gm)].map(([, id = "", uptime]) => [id, Number(uptime)] as const))
  )
}

/** The present moment, once this process has read what had reached it. */
export const momentNow = async (): Promise<Moment> => {
  const uptime = Number(process.hrtime.bigint() / 1_000_000n)
  await backlogRead()
  return { at: nowMillis(), uptime }
}

/** Those of these dials that arrived after the moment, and had not left before it. */
export const leftAfter = (world: { readonly dataDir: string }, dials: ReadonlyArray<CalleeEntry>, { at, uptime }: Moment) => {
  const left = leftAt(world)
  return dials.filter((dial) => dial.at > at && (left.get(dial.channelId) ?? Number.POSITIVE_INFINITY) > uptime)
}

/**
 * The largest number of dials that left in a second, with a tolerance: a busy machine may have moved some closer together by a fifth of a second.
 * The bench `rate` measures without it.
 */
export const mostLeftInASecond = (world: { readonly dataDir: string; readonly emulator: { readonly log: CalleeLog } }): number => {
  const left = leftAt(world)
  const untold = world.emulator.log.entries.filter(({ channelId, kind }) => kind === "originate" && !left.has(channelId))
  if (untold.length > 0) throw new Error(`the journal does not say when ${untold.length} dials left`)
  return mostWithin(
    [...left.values()].toSorted((a, b) => a - b),
    800
  )
}
