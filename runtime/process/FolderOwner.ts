/** Reserves a folder for one process. The file left by a killed process does not keep others out. */
import { Effect, Schema, type Scope } from "effect"
import { readFileSync, renameSync, rmSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { attempt } from "./attempt.ts"

class FolderInUse extends Schema.TaggedError<FolderInUse>()("FolderInUse", { folder: Schema.String }) {
  override get message(): string {
    return `${this.folder} is in use by another engine: give this one another DATA_DIR`
  }
}

/** The start time of a process, which distinguishes it from a later one with the same id. Undefined if no such process exists. */
export const startOf = (pid: number): string | undefined =>
  process.platform === "linux"
    ? attempt(() => readFileSync(`/proc/${pid}/stat`, "utf8"))
        ?.split(") ")
        .at(-1)
        ?.split(" ")[19]
    : attempt(() => String(process.kill(pid, 0)))

const isAlive = (owner: string): boolean => {
  const [pid, start] = owner.split(" ")
  return start !== undefined && startOf(Number(pid)) === start
}

/** If two processes find the same leftover, only one can rename it. A process that has moved a newer file puts it back. */
const clearLeftover = (file: string, leftover: string): boolean => {
  const aside = `${file}.${process.pid}`
  if (attempt(() => renameSync(file, aside) ?? true) === undefined) return false
  if (attempt(() => readFileSync(aside, "utf8")) === leftover) return attempt(() => rmSync(aside) ?? true) === true
  renameSync(aside, file)
  return false
}

/** Owns the folder, which must exist, until the scope closes. */
export const ownFolder = (folder: string): Effect.Effect<void, FolderInUse, Scope.Scope> => {
  const file = join(folder, "owner")
  const take = Effect.suspend(() => {
    const found = attempt(() => readFileSync(file, "utf8"))
    if (found !== undefined && (isAlive(found) || !clearLeftover(file, found))) return Effect.fail(new FolderInUse({ folder }))
    return Effect.try({
      try: () => writeFileSync(file, `${process.pid} ${startOf(process.pid)}`, { flag: "wx", mode: 0o600 }),
      catch: () => new FolderInUse({ folder })
    })
  })
  return Effect.acquireRelease(take, () => Effect.sync(() => rmSync(file, { force: true })))
}
