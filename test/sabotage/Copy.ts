/** A copy of the project, in which files can be changed and tests run without anybody else noticing. */
import { execFileSync, spawn } from "node:child_process"
import { cpSync, existsSync, mkdirSync, symlinkSync } from "node:fs"
import { dirname, join } from "node:path"
import type { FileRun } from "./Sabotage.ts"

/** Of the folders that git ignores, tests use these: packages, and what earlier runs have cached and unpacked. */
const shared = ["node_modules", ".cache"]

/** The files of the working tree, whether or not they are committed. */
const filesOf = (root: string): ReadonlyArray<string> =>
  execFileSync("git", ["ls-files", "-z", "--cached", "--others", "--exclude-standard"], { cwd: root, encoding: "utf8" })
    .split("\0")
    .filter((file) => file !== "" && existsSync(join(root, file)))

const running = new Set<number>()
/** A test file and the processes that it has started are one group. */
const killGroup = (pid: number): void => {
  try {
    process.kill(-pid, "SIGKILL")
  } catch {
    // All of them have exited.
  }
}
export const killAll = (): void => running.forEach(killGroup)

interface TestRun extends FileRun {
  readonly seconds: number
}

export class Copy {
  readonly #root: string
  readonly #environment: NodeJS.ProcessEnv

  constructor(original: string, root: string, environment: NodeJS.ProcessEnv) {
    this.#root = root
    this.#environment = environment
    for (const file of filesOf(original)) {
      mkdirSync(dirname(join(root, file)), { recursive: true })
      cpSync(join(original, file), join(root, file), { verbatimSymlinks: true })
    }
    for (const folder of shared) if (existsSync(join(original, folder))) symlinkSync(join(original, folder), join(root, folder))
  }

  path(file: string): string {
    return join(this.#root, file)
  }

  /** Runs a test file as `npm test` would run it alone. */
  run(file: string, limitMillis: number): Promise<TestRun> {
    return new Promise((resolve, reject) => {
      const begun = performance.now()
      const child = spawn(process.execPath, ["--import", this.path("test/support/stripped.js"), file], {
        cwd: this.#root,
        detached: true,
        env: this.#environment,
        stdio: ["ignore", "pipe", "pipe"]
      })
      const { pid } = child
      if (pid !== undefined) running.add(pid)
      let output = ""
      let isExpired = false
      const keep = (text: string) => {
        output += text
      }
      child.stdout.setEncoding("utf8").on("data", keep)
      child.stderr.setEncoding("utf8").on("data", keep)
      const limit = setTimeout(() => {
        isExpired = true
        if (pid !== undefined) killGroup(pid)
      }, limitMillis)
      child.once("error", reject)
      child.once("close", (code) => {
        clearTimeout(limit)
        if (pid !== undefined) {
          // It may have left others behind.
          killGroup(pid)
          running.delete(pid)
        }
        resolve({ code: code ?? undefined, isExpired, output, seconds: (performance.now() - begun) / 1000 })
      })
    })
  }
}
