/**
 * The packages of this project and of the adapter beside this file, made and installed in folders of their own with the commands of
 * adapters/README.md. Only npm's registry is needed, for the dependencies of the packages.
 */
import { execFile } from "node:child_process"
import { readFile } from "node:fs/promises"
import { delimiter, dirname, join } from "node:path"
import { fileURLToPath } from "node:url"
import { promisify } from "node:util"
import type { Test } from "tap"
import { temporaryFolder } from "#test/support/dataFolder.ts"

const root = fileURLToPath(new URL("../..", import.meta.url))
const tarball = "trunkline-0.1.0.tgz"

/** A `PATH` that begins with the folder of this Node. */
export const path = [dirname(process.execPath), process.env["PATH"]].join(delimiter)

/** The output of a program, and whether it succeeded. */
interface Ended {
  readonly isGood: boolean
  readonly output: string
}

/** Runs a program without the hooks that tap adds to every Node process that a test starts. */
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

/** The commands of the page, block by block: the adapter's project and its tests, the folder of an engine, the engine's start. */
const commandsOf = async () => {
  const page = await readFile(join(root, "adapters/README.md"), "utf8")
  const section = /^## From an empty folder to a passing suite$(.*?)^## /ms.exec(page)?.[1] ?? ""
  const [project = "", installation = "", start = ""] = [...section.matchAll(/^```sh\n(.*?)^```$/gms)].map(([, text]) => text)
  return { project, installation, start: start.trim() }
}

interface Packages {
  /** The adapter's project. */
  readonly author: string
  /** The output of the tests of each example: of the adapter, of the language model, and of the voices, which are plain JavaScript. */
  readonly suites: Readonly<Record<"adapter" | "model" | "voices", string>>
  /** The folder in which only the engine and the examples are installed. */
  readonly operator: string
  /** The command that starts the engine there. */
  readonly start: string
  /** The paths in the engine's package. */
  readonly files: ReadonlyArray<string>
}

/** A service in a separate project, packed and tested. It uses the packages of the adapter's project. */
const serviceFrom = async (folder: string, author: string, name: string) => {
  const service = join(folder, name)
  await must(folder, "mkdir", service)
  await must(service, "tar", "-xzf", join(folder, tarball), "--strip-components=4", `package/test/package/${name}`)
  await must(service, "ln", "-s", join(author, "node_modules"), "node_modules")
  // Compiles it, if it is not plain JavaScript.
  await must(service, "npm", "pack", "--offline", "--silent")
  return { suite: await must(service, "npm", "test"), tarball: join(service, `${name}-1.0.0.tgz`) }
}

export const openPackages = async (t: Test): Promise<Packages> => {
  // Outside the project, whose own name and packages would be found from any folder in it.
  const folder = temporaryFolder(t)
  await must(root, "npm", "pack", "--offline", "--silent", "--pack-destination", folder)
  const files = (await must(folder, "tar", "-tzf", tarball)).trim().split("\n")
  const { installation, project, start } = await commandsOf()
  const settings = ["npm_config_audit=false", "npm_config_fund=false", "npm_config_prefer_offline=true", `ENGINE=${join(folder, tarball)}`]
  const type = (cwd: string, commands: string) => must(cwd, "env", ...settings, "bash", "-euo", "pipefail", "-c", commands)
  const author = join(folder, "voice-adapter-acme")
  const adapter = await type(folder, project)
  const operator = join(folder, "engine")
  // npm need not unpack there again what both have, and removes what only the author has.
  await must(folder, "mkdir", operator)
  await must(folder, "cp", "-al", join(author, "node_modules"), operator)
  await type(author, installation)
  const model = await serviceFrom(folder, author, "language-model-acme")
  const voices = await serviceFrom(folder, author, "voice-speaker-acme")
  await must(operator, "npm", "install", "--offline", "--no-audit", "--no-fund", model.tarball, voices.tarball)
  return { author, files, operator, start, suites: { adapter, model: model.suite, voices: voices.suite } }
}
