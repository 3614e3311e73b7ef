/**
 * Identifies the current boot of the machine. Only within one boot is data that was written without waiting for the disk certain to be readable.
 */
import { Result } from "effect"
import { execFileSync } from "node:child_process"
import { readFileSync } from "node:fs"

const read = (): string => {
  if (process.platform === "linux") return readFileSync("/proc/sys/kernel/random/boot_id", "utf8")
  if (process.platform === "darwin") return execFileSync("sysctl", ["-n", "kern.bootsessionuuid"], { encoding: "utf8", timeout: 5000 })
  return ""
}

/** Undefined if the operating system has no such id. */
export const bootId = (): string | undefined => {
  const id = Result.getOrElse(Result.try(read), () => "").trim()
  return /^[\w-]{8,64}$/.test(id) ? id : undefined
}
