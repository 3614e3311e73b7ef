/** Small programs below the root that resemble the engine, for tests of how it is built and run. */
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs"
import { basename, join, relative } from "node:path"
import { fileURLToPath } from "node:url"
import type { Test } from "tap"

export const root = fileURLToPath(new URL("../..", import.meta.url))
const cache = join(root, ".cache")

/** Creates a program from these files; `main.ts` gets the program's name. */
export const programOf = (t: Test, files: Readonly<Record<string, string>>) => {
  mkdirSync(cache, { recursive: true })
  const folder = mkdtempSync(join(realpathSync(cache), "program-"))
  const name = basename(folder)
  const builds = join(root, ".build", name)
  t.teardown(() => {
    rmSync(folder, { recursive: true, force: true })
    rmSync(builds, { recursive: true, force: true })
  })
  const write = (file: string, text: string) => writeFileSync(join(folder, file), text)
  for (const [file, text] of Object.entries(files)) write(file === "main.ts" ? `${name}.ts` : file, text)
  const path = join(folder, `${name}.ts`)
  /** `own` is the path from the root, as the builder expects it, and `builds` where its builds are stored. */
  return { own: relative(root, path), path, builds, write }
}
