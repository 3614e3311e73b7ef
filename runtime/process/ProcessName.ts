/**
 * Names this process so that another one on the same machine can tell whether it is still alive: boot, process id namespace, process id and
 * start time. From another machine, or without /proc, there is no way to tell.
 */
import { createHash } from "node:crypto"
import { readFileSync, readlinkSync } from "node:fs"
import { startOf } from "./FolderOwner.ts"
import { attempt } from "./attempt.ts"

/** Containers on one machine number their processes separately; the namespace tells them apart. */
const machine = (): string | undefined =>
  attempt(() => `${readFileSync("/proc/sys/kernel/random/boot_id", "utf8").trim()} ${readlinkSync("/proc/self/ns/pid")}`)

/** The name of this process; empty if none can be determined. */
export const ownName = (): string => {
  const here = machine()
  const start = startOf(process.pid)
  return here === undefined || start === undefined ? "" : `${here} ${process.pid} ${start}`
}

/** True only if the process with this name has certainly ended. */
export const isGone = (name: string): boolean => {
  const here = machine()
  if (here === undefined || !name.startsWith(`${here} `)) return false
  const [pid, start] = name.slice(here.length + 1).split(" ")
  return startOf(Number(pid)) !== start
}

/** Marks the database sessions of the process with this name. Undefined if the name is empty. */
export const sessionMark = (name: string): string | undefined =>
  name === "" ? undefined : createHash("sha256").update(name).digest("hex").slice(0, 12)

/** What the database shows as the application of this process's sessions; Postgres keeps 63 bytes of it. */
export const applicationOf = (nodeName: string, name = ownName()): string =>
  ["trunkline", nodeName, sessionMark(name) ?? []].flat().join(" ")
