/** Which threads and processes the kernel prefers, as Linux tells it. */
import { readdirSync, readFileSync } from "node:fs"

/** Reads `/proc/.../stat`: the field follows the name, which may contain anything but is the last thing in parentheses. */
export const nicenessIn = (stat: string): number =>
  Number(
    readFileSync(stat, "utf8")
      .replace(/^.*\) /s, "")
      .split(" ")[16]
  )

/** The niceness of each thread of a process except its main thread. Empty except on Linux. */
export const nicenessBeside = (pid: number): ReadonlyArray<number> => {
  if (process.platform !== "linux") return []
  const others = readdirSync(`/proc/${pid}/task`).filter((id) => id !== String(pid))
  return others.map((id) => nicenessIn(`/proc/${pid}/task/${id}/stat`))
}
