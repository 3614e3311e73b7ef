/** Small programs below the root, like those of the engine, for tests of how these are built and run. */
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs"
import { basename, join, relative } from "node:path"
import { fileURLToPath } from "node:url"
import type { Test } from "tap"

export const root = fileURLToPath(new URL("../..", import.meta.url))
const cache = join(root, ".cache")

interface Program {
  /** From the root, as the builder wants it. */
  readonly own: string
  readonly path: string
  /** Where its builds lie. */
  readonly builds: string
  readonly write: (file: string, text: string) => void
}

/** A program of these files; `main.ts` is given the name of the program. */
export const programOf = (t: Test, files: Readonly<Record<string, string>>): Program => {
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
  return { own: relative(root, path), path, builds, write }
}
