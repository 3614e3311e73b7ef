/** How much CPU time a process and its children have used, as counted by Linux. */
import { Effect } from "effect"
import { readdirSync, readFileSync } from "node:fs"
import type { Database } from "./Database.ts"

/** The time unit in which the kernel reports to programs. */
const ticksPerSecond = 100

interface Spent {
  readonly parent: number
  readonly ticks: number
  /** The CPU time of its children that have ended. */
  readonly childrenTicks: number
}

/** Undefined if the process no longer exists. */
const spentBy = (pid: number | string): Spent | undefined => {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, "latin1")
    // The program name, in parentheses, may contain spaces. The state follows it.
    const fields = text.slice(text.lastIndexOf(")") + 2).split(" ")
    const [parent = 0, user = 0, system = 0, childrenUser = 0, childrenSystem = 0] = [1, 11, 12, 13, 14].map((at) => Number(fields[at]))
    return { parent, ticks: user + system, childrenTicks: childrenUser + childrenSystem }
  } catch {
    return undefined
  }
}

/** CPU seconds since its start. Undefined except on Linux. */
export const treeSecondsOf = (pid: number): number | undefined => {
  if (process.platform !== "linux") return undefined
  const own = spentBy(pid)
  const pids = readdirSync("/proc").filter((name) => /^\d+$/.test(name))
  const children = pids.map(spentBy).filter((spent) => spent?.parent === pid)
  const ticks = children.reduce((sum, spent) => sum + (spent?.ticks ?? 0), (own?.ticks ?? 0) + (own?.childrenTicks ?? 0))
  return ticks / ticksPerSecond
}

/** CPU seconds of the processes of a Postgres server since its start. Undefined except on Linux. */
export const postgresSecondsOf = ({ sql }: Database): Effect.Effect<number | undefined> =>
  Effect.promise(async () => {
    const [row] = await sql<Array<{ pid: number }>>`SELECT pg_backend_pid() AS pid`
    return treeSecondsOf(spentBy(row?.pid ?? 0)?.parent ?? 0)
  })
