/** What a process and those that it has started have spent of their cores, as Linux counts it. */
import { readdirSync, readFileSync } from "node:fs"

/** The kernel's unit of time towards programs. */
const ticksPerSecond = 100

interface Spent {
  readonly parent: number
  readonly ticks: number
  /** Of its children that have ended. */
  readonly childrenTicks: number
}

/** Undefined: there is no such process any more. */
const spentBy = (pid: number | string): Spent | undefined => {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, "latin1")
    // The name of the program, in parentheses, may contain spaces. The state follows it.
    const fields = text.slice(text.lastIndexOf(")") + 2).split(" ")
    const [parent = 0, user = 0, system = 0, childrenUser = 0, childrenSystem = 0] = [1, 11, 12, 13, 14].map((at) => Number(fields[at]))
    return { parent, ticks: user + system, childrenTicks: childrenUser + childrenSystem }
  } catch {
    return undefined
  }
}

/** Undefined: there is no such process any more. */
export const parentOf = (pid: number): number | undefined => spentBy(pid)?.parent

/** Since its start, in seconds. Undefined where there is no Linux to ask. */
export const treeSecondsOf = (pid: number): number | undefined => {
  if (process.platform !== "linux") return undefined
  const own = spentBy(pid)
  const pids = readdirSync("/proc").filter((name) => /^\d+$/.test(name))
  const children = pids.map(spentBy).filter((spent) => spent?.parent === pid)
  const ticks = children.reduce((sum, spent) => sum + (spent?.ticks ?? 0), (own?.ticks ?? 0) + (own?.childrenTicks ?? 0))
  return ticks / ticksPerSecond
}
