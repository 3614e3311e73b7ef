/** The data folder of an engine that may have run its own Postgres, which survives an engine that is killed. */
import { mkdtempSync, readdirSync } from "node:fs"
import { readFile, realpath, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import type { Test } from "tap"
import { startOf } from "#runtime/process/FolderOwner.ts"
import { untilTrue } from "./until.ts"

/** Resolves when Postgres has exited. One that exits removes its pid file. */
export const stopPostgres = async (folder: string): Promise<void> => {
  const [pid = ""] = (await readFile(join(folder, "postgres", "cluster", "postmaster.pid"), "utf8").catch(() => "")).split("\n")
  if (startOf(Number(pid)) === undefined) return
  process.kill(Number(pid), "SIGINT")
  await untilTrue("end of the Postgres", () => startOf(Number(pid)) === undefined)
}

/** A new folder, which is removed with what it contains when the test ends. */
export const temporaryFolder = (t: Pick<Test, "teardown">): string => {
  const folder = mkdtempSync(join(tmpdir(), "trunkline-"))
  t.teardown(() => removeData(folder))
  return folder
}

/** Also removes the folder behind the link where Postgres keeps its data if its user may not enter this one. */
export const removeData = async (folder: string): Promise<void> => {
  await stopPostgres(folder)
  const postgres = join(folder, "postgres")
  await rm(await realpath(postgres).catch(() => postgres), { recursive: true, force: true })
  await rm(folder, { recursive: true, force: true })
}

/** The paths of all files below, without folders. */
export const filesIn = (folder: string): ReadonlyArray<string> =>
  readdirSync(folder, { recursive: true })
    .map(String)
    .filter((name) => /\.\w+$/.test(name))
