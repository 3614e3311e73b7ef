/**
 * A real Postgres from npm, for engines without a DATABASE_URL: created at the first start, run while the engine runs, on loopback only and
 * with a password. It outlives an engine that was killed; the next start stops it and continues with its data. If it exits while the engine
 * runs, it is restarted on the same port.
 *
 *     cluster/  the data     password  mode 0600     port  the last one used     owner  the process that uses the folder     log
 *
 * Under root it runs as the owner of the data, at first `nobody`. That user must be able to enter the folder: data out of their reach (below
 * /root, say) are created under /var/lib, with a link in their place.
 */
import { Context, Effect, Layer, Redacted, Schedule } from "effect"
import { randomBytes } from "node:crypto"
import {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync
} from "node:fs"
import { createServer } from "node:net"
import { dirname, join, resolve } from "node:path"
import { ownFolder, startOf } from "#runtime/process/FolderOwner.ts"
import { canEnter, failure, isRoot, nobody, type PostgresPrograms, postgresPrograms, type User } from "./PostgresPrograms.ts"
import { attempt } from "#runtime/process/attempt.ts"

interface EmbeddedPostgresOptions {
  /** Created if it does not exist. */
  readonly folder: string
  /**
   * For tests: does not wait for the disk, and lets dozens of engines connect cheaply. A crash of Postgres loses nothing, a power failure
   * everything.
   */
  readonly fast?: boolean
}

const initSeconds = 120
// Recovery after a crash replays at most `max_wal_size`.
const startSeconds = 120
const fastStopSeconds = 20
const immediateStopSeconds = 10
const portAttempts = 5
const LOOK_EVERY = "500 millis"
const logTailLines = 5
const systemFolder = "/var/lib/trunkline"
const userName = "trunkline"

const settings = {
  listen_addresses: "127.0.0.1",
  unix_socket_directories: "",
  shared_buffers: "64MB",
  max_connections: "100",
  max_wal_size: "512MB",
  random_page_cost: "1.1",
  jit: "off",
  // There is no standby, so less needs to be written ahead.
  wal_level: "minimal",
  max_wal_senders: "0",
  // Saves one process for each I/O worker.
  io_method: "sync",
  timezone: "UTC",
  log_timezone: "UTC",
  // Statements and their errors contain phone numbers; the engine logs its own failures.
  log_min_messages: "log",
  log_min_error_statement: "panic",
  log_error_verbosity: "terse",
  log_checkpoints: "off"
}
/** One hashing round per password: otherwise each connection costs its client milliseconds of hashing. */
const unsafeInit = ["--no-sync", "--set", "scram_iterations=1"]
const unsafeSettings = { fsync: "off", full_page_writes: "off", max_connections: "600" }

const attempting = <A>(act: () => A) =>
  Effect.try({
    try: act,
    catch: (cause) => failure(`The embedded Postgres cannot use its folder: ${cause instanceof Error ? cause.message : cause}`)
  })

/** Creates the missing folders above `folder`. Other users may pass through them, but not list them. */
const makeParents = (folder: string) => {
  const first = mkdirSync(dirname(folder), { recursive: true })
  if (first === undefined || !isRoot) return
  for (let made = dirname(folder); made.length >= first.length; made = dirname(made)) chmodSync(made, 0o711)
}

const makeElsewhere = Effect.fnUntraced(function* (folder: string, user: User) {
  const made = yield* attempting(() => {
    mkdirSync(systemFolder, { recursive: true, mode: 0o711 })
    return mkdtempSync(join(systemFolder, "postgres-"))
  })
  if (!(yield* canEnter(user, systemFolder))) {
    return yield* failure(
      `Postgres does not run as root, and user ${user.uid} can enter neither ${dirname(folder)} nor ${systemFolder}: set DATA_DIR to a folder that other users can enter, or set DATABASE_URL`
    )
  }
  yield* attempting(() => symlinkSync(made, folder))
  yield* Effect.logInfo("the embedded Postgres keeps its data in a folder that its user can enter").pipe(
    Effect.annotateLogs({ folder, data: made })
  )
})

/** The real path of the folder, and the user that Postgres runs as; undefined if that is our own. */
const prepareFolder = Effect.fnUntraced(function* (wanted: string) {
  const folder = resolve(wanted)
  const created = !existsSync(folder)
  const user = isRoot ? yield* nobody : undefined
  if (created) {
    yield* attempting(() => {
      // Removes a link without a target.
      rmSync(folder, { force: true })
      makeParents(folder)
    })
    if (user !== undefined && !(yield* canEnter(user, dirname(folder)))) yield* makeElsewhere(folder, user)
    else yield* attempting(() => mkdirSync(folder, { mode: 0o700 }))
  }
  const real = yield* attempting(() => realpathSync(folder))
  if (user === undefined) return { folder: real, user }
  const { gid, uid } = yield* attempting(() => statSync(real))
  const owner: User = uid === 0 ? user : { uid, gid }
  if (uid === 0) yield* attempting(() => chownSync(real, owner.uid, owner.gid))
  if (yield* canEnter(owner, real)) return { folder: real, user: owner }
  return yield* failure(
    `User ${owner.uid}, which Postgres runs as, cannot enter ${real}: set DATA_DIR to a folder that other users can enter, or set DATABASE_URL`
  )
})

interface Cluster {
  readonly programs: PostgresPrograms
  readonly folder: string
  readonly data: string
  readonly user: User | undefined
}

const controlWith = ({ data, folder, programs }: Cluster, seconds: number, ...args: ReadonlyArray<string>) =>
  programs.run("pg_ctl", ["-D", data, "-w", "-t", String(seconds), ...args], { cwd: folder, timeoutMillis: (seconds + 5) * 1000 })

const readPassword = ({ folder, user }: Cluster) =>
  attempting(() => {
    const file = join(folder, "password")
    const found = attempt(() => readFileSync(file, "utf8").trim())
    if (found !== undefined && found !== "") return found
    const made = randomBytes(24).toString("base64url")
    writeFileSync(file, made, { mode: 0o600 })
    // initdb reads the file as this user.
    if (user !== undefined) chownSync(file, user.uid, user.gid)
    return made
  })

const initialize = Effect.fnUntraced(function* (cluster: Cluster, fast: boolean) {
  const { data, folder, programs } = cluster
  if (existsSync(data)) return
  // Created under another name, so that the half-finished result of a killed start is never taken for a cluster.
  const draft = `${data}.new`
  yield* attempting(() => rmSync(draft, { recursive: true, force: true }))
  const locale = ["--encoding=UTF8", "--locale=C", "--locale-provider=builtin", "--builtin-locale=C.UTF-8"]
  const access = ["-U", userName, "--auth=scram-sha-256", `--pwfile=${join(folder, "password")}`]
  yield* programs.run("initdb", ["-D", draft, ...access, ...locale, ...(fast ? unsafeInit : [])], {
    cwd: folder,
    timeoutMillis: initSeconds * 1000
  })
  yield* attempting(() => renameSync(draft, data))
})

/** Whether a postmaster of this cluster is running: ours, or one that outlived its engine. */
const isRunning = ({ data }: Cluster): boolean => {
  const pidFile = join(data, "postmaster.pid")
  const pid = Number(attempt(() => readFileSync(pidFile, "utf8"))?.split("\n")[0])
  if (!(pid > 0) || startOf(pid) === undefined) return false
  if (process.platform !== "linux" || attempt(() => realpathSync(`/proc/${pid}/cwd`)) === data) return true
  // After a restart of the machine or container, the id belongs to another program. Postgres would refuse to start, and pg_ctl would signal that
  // program.
  rmSync(pidFile, { force: true })
  return false
}

const stop = (cluster: Cluster) =>
  Effect.suspend(() =>
    isRunning(cluster)
      ? controlWith(cluster, fastStopSeconds, "-m", "fast", "stop").pipe(
          Effect.catch(() => controlWith(cluster, immediateStopSeconds, "-m", "immediate", "stop")),
          Effect.catch((error) => (isRunning(cluster) ? Effect.fail(error) : Effect.void)),
          Effect.asVoid
        )
      : Effect.void
  )

/** `wanted` if it is free, otherwise any free port; 0 asks for any. */
const freePort = (wanted: number): Effect.Effect<number> =>
  Effect.callback((resume) => {
    const server = createServer()
    server.once("error", () => resume(freePort(0)))
    server.listen(wanted, "127.0.0.1", () => {
      const address = server.address()
      const port = typeof address === "object" && address !== null ? address.port : wanted
      server.close(() => resume(Effect.succeed(port)))
    })
  })

const logTail = ({ folder }: Cluster): string =>
  attempt(() => readFileSync(join(folder, "log"), "utf8"))
    ?.trim()
    .split("\n")
    .slice(-logTailLines)
    .join("\n") ?? ""

const startOn = (cluster: Cluster, fast: boolean, port: number) => {
  const options = Object.entries({ ...settings, ...(fast ? unsafeSettings : {}) }).map(([name, value]) => `-c ${name}='${value}'`)
  return controlWith(cluster, startSeconds, "-l", join(cluster.folder, "log"), "-o", [`-p ${port}`, ...options].join(" "), "start")
}

/** Restarts Postgres whenever it exits while the scope is open. Returns a function that tells why it is down; undefined while it runs. */
const supervise = Effect.fnUntraced(function* (cluster: Cluster, fast: boolean, port: number) {
  let trouble: string | undefined
  // Sessions of the previous Postgres may take a moment to release its memory.
  const restart = startOn(cluster, fast, port).pipe(
    Effect.tapError((error) => Effect.logWarning("the embedded Postgres does not restart yet", error.message)),
    Effect.retry(Schedule.min([Schedule.exponential("250 millis"), Schedule.spaced("10 seconds")]))
  )
  const watch = Effect.gen(function* () {
    yield* Effect.sleep(LOOK_EVERY)
    if (isRunning(cluster)) return
    trouble = "The embedded Postgres has exited unexpectedly and is being restarted"
    yield* Effect.logError("the embedded Postgres has exited unexpectedly and is being restarted").pipe(
      Effect.annotateLogs({ log: logTail(cluster) })
    )
    yield* restart
    trouble = undefined
    yield* Effect.logInfo("the embedded Postgres runs again")
  })
  yield* Effect.forkScoped(Effect.forever(watch))
  return () => trouble
})

const start = Effect.fnUntraced(function* (cluster: Cluster, fast: boolean) {
  const { folder } = cluster
  const portFile = join(folder, "port")
  let wanted = Number(attempt(() => readFileSync(portFile, "utf8"))) || 0
  for (let tries = 1; ; tries++) {
    const port = yield* freePort(wanted)
    const outcome = yield* Effect.result(startOn(cluster, fast, port))
    if (outcome._tag === "Success") {
      yield* attempting(() => writeFileSync(portFile, String(port)))
      return port
    }
    const tail = logTail(cluster)
    // Another program took the port between our check and the start.
    if (tries === portAttempts || !tail.includes("could not bind")) {
      return yield* failure(`The embedded Postgres in ${folder} does not start.\n${outcome.failure.message}\n${tail}`)
    }
    wanted = 0
  }
})

const open = Effect.fn("EmbeddedPostgres.open")(function* (options: EmbeddedPostgresOptions) {
  const fast = options.fast === true
  const { folder, user } = yield* prepareFolder(options.folder)
  yield* Effect.mapError(ownFolder(folder), (error) => failure(error.message))
  const programs = yield* postgresPrograms(user)
  const cluster: Cluster = { programs, folder, data: join(folder, "cluster"), user }
  const password = yield* readPassword(cluster)
  yield* initialize(cluster, fast)
  yield* stop(cluster)
  const port = yield* Effect.acquireRelease(start(cluster, fast), () =>
    Effect.ignore(stop(cluster), { log: "Warn", message: "the embedded Postgres does not stop" })
  )
  const trouble = yield* supervise(cluster, fast, port)
  return { url: Redacted.make(`postgres://${userName}:${password}@127.0.0.1:${port}/postgres`), folder, trouble }
})

export class EmbeddedPostgres extends Context.Service<
  EmbeddedPostgres,
  {
    /** Valid while the layer lives. */
    readonly url: Redacted.Redacted
    /** The real path of the data folder. */
    readonly folder: string
    /** Why it is not running; undefined while it runs. */
    readonly trouble: () => string | undefined
  }
>()("runtime/postgres/EmbeddedPostgres") {
  static readonly layer = (options: EmbeddedPostgresOptions) => Layer.effect(EmbeddedPostgres, open(options))
}
