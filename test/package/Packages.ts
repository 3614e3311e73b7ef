/**
 * What npm makes of this project and of the adapter beside this file, installed in a folder that was empty. Only npm's registry is needed, for what the
 * engine depends on. The adapter is compiled as its author would compile it, against the engine's package.
 */
import { execFile } from "node:child_process"
import { cp, mkdtemp, rm, symlink } from "node:fs/promises"
import { tmpdir } from "node:os"
import { delimiter, dirname, join } from "node:path"
import { fileURLToPath } from "node:url"
import { promisify } from "node:util"
import type { Test } from "tap"

const root = fileURLToPath(new URL("../..", import.meta.url))
const adapter = fileURLToPath(new URL("voice-adapter-acme", import.meta.url))

/** This Node, and the compiler. */
export const path = [dirname(process.execPath), join(root, "node_modules/.bin"), process.env["PATH"]].join(delimiter)

/** What a program wrote, and whether it ended well. */
interface Ended {
  readonly isGood: boolean
  readonly output: string
}

/** Without the hooks that tap puts into every Node that a test starts. */
export const run = async (cwd: string, ...words: ReadonlyArray<string>): Promise<Ended> => {
  const program = promisify(execFile)("env", ["-u", "NODE_OPTIONS", `PATH=${path}`, ...words], { cwd, maxBuffer: 64 * 1024 * 1024 })
  return program.then(
    ({ stderr, stdout }) => ({ isGood: true, output: stdout + stderr }),
    ({ stderr, stdout }: { readonly stdout: string; readonly stderr: string }) => ({ isGood: false, output: stdout + stderr })
  )
}

const must = async (cwd: string, ...words: ReadonlyArray<string>): Promise<string> => {
  const { isGood, output } = await run(cwd, ...words)
  if (!isGood) throw new Error(`${words.join(" ")}\n${output}`)
  return output
}

const install = (cwd: string, tarball: string) => must(cwd, "npm", "install", "--prefer-offline", "--no-audit", "--no-fund", tarball)

interface Packages {
  /** Where both are installed, and nothing else. */
  readonly operator: string
  /** The adapter's own project, with the engine's package in reach. */
  readonly author: string
  /** The paths in the engine's package. */
  readonly files: ReadonlyArray<string>
}

export const openPackages = async (t: Test): Promise<Packages> => {
  // Outside the project, whose own name and packages would be found from any folder in it.
  const folder = await mkdtemp(join(tmpdir(), "trunkline-package-"))
  t.teardown(() => rm(folder, { recursive: true, force: true }))
  const [operator, author] = [join(folder, "operator"), join(folder, "author")]
  await must(root, "npm", "pack", "--offline", "--silent", "--pack-destination", folder)
  const files = (await must(folder, "tar", "-tzf", "trunkline-0.1.0.tgz")).trim().split("\n")
  await must(folder, "mkdir", "operator")
  await install(operator, "../trunkline-0.1.0.tgz")
  await cp(adapter, author, { recursive: true })
  await symlink(join(operator, "node_modules"), join(author, "node_modules"))
  await must(author, "npm", "pack", "--offline", "--silent", "--pack-destination", folder)
  await install(operator, "../voice-adapter-acme-1.0.0.tgz")
  return { operator, author, files }
}
