/**
 * Two real Postgres servers: a primary, and a standby that follows it asynchronously. Clients reach the current primary at a fixed address, as
 * through a service name. After `lag`, the standby no longer gets what is committed, and `failOver` promotes it, so that those commits are
 * lost.
 */
import { Effect } from "effect"
import { execFile } from "node:child_process"
import { randomUUID } from "node:crypto"
import { appendFile, chmod, chown, cp, writeFile } from "node:fs/promises"
import { join } from "node:path"
import { promisify } from "node:util"
import type { Test } from "tap"
import { isRoot, nobody, type PostgresPrograms, postgresPrograms, type User } from "#runtime/postgres/PostgresPrograms.ts"
import { temporaryFolder } from "./dataFolder.ts"
import { freePort } from "./freePort.ts"
import { witness } from "./postgres.ts"
import { type Connection, TcpProxy } from "./TcpProxy.ts"
import { untilTrue } from "./until.ts"

type Witness = ReturnType<typeof witness>

const password = randomUUID()
const seconds = 120
const settings = ["fsync=off", "full_page_writes=off", "listen_addresses=127.0.0.1", "unix_socket_directories=", "wal_level=replica"]

interface Parts {
  readonly folder: string
  readonly primary: Server
  readonly standby: Server
  /** The standby's connection to the primary. */
  readonly replication: TcpProxy
  readonly clients: TcpProxy
  /** Where connections of clients are forwarded to. */
  readonly target: { readonly host: string; port: number }
}

class Server {
  readonly #programs: PostgresPrograms
  readonly folder: string
  readonly data: string
  readonly port: number

  constructor(programs: PostgresPrograms, folder: string, port: number) {
    this.#programs = programs
    this.folder = folder
    this.data = join(folder, `cluster-${port}`)
    this.port = port
  }

  get url(): string {
    return `postgres://trunkline:${password}@127.0.0.1:${this.port}/postgres`
  }

  run(program: "initdb" | "pg_ctl", ...args: ReadonlyArray<string>): Promise<string> {
    return Effect.runPromise(this.#programs.run(program, args, { cwd: this.folder, timeoutMillis: (seconds + 10) * 1000 }))
  }

  start(): Promise<string> {
    const options = [`-p ${this.port}`, ...settings.map((setting) => `-c ${setting}`)].join(" ")
    return this.run("pg_ctl", "-D", this.data, "-w", "-t", String(seconds), "-l", `${this.data}.log`, "-o", options, "start")
  }

  stop(): Promise<unknown> {
    return this.run("pg_ctl", "-D", this.data, "-w", "-m", "immediate", "stop").catch(() => undefined)
  }
}

export class ReplicatedPostgres {
  static async start(t: Test): Promise<ReplicatedPostgres> {
    const folder = temporaryFolder(t)
    const user: User | undefined = isRoot ? await Effect.runPromise(nobody) : undefined
    if (user !== undefined) await chown(folder, user.uid, user.gid)
    const programs = await Effect.runPromise(postgresPrograms(user))
    const [primary, standby] = [new Server(programs, folder, await freePort()), new Server(programs, folder, await freePort())]
    const replication = await TcpProxy.start({ host: "127.0.0.1", port: primary.port })
    const target = { host: "127.0.0.1", port: primary.port }
    const clients = await TcpProxy.start(target)
    t.teardown(async () => {
      await Promise.all([clients.stop(), replication.stop()])
      await Promise.all([primary.stop(), standby.stop()])
    })
    const pair = new ReplicatedPostgres({ clients, folder, primary, replication, standby, target })
    await pair.#begin(user)
    return pair
  }

  readonly #parts: Parts

  private constructor(parts: Parts) {
    this.#parts = parts
  }

  /** The URL of the current primary. */
  get url(): string {
    return `postgres://trunkline:${password}@127.0.0.1:${this.#parts.clients.port}/postgres`
  }

  async #begin(user: User | undefined): Promise<void> {
    const { folder, primary, replication, standby } = this.#parts
    const file = join(folder, "password")
    await writeFile(file, password)
    if (user !== undefined) await chown(file, user.uid, user.gid)
    await primary.run("initdb", "-D", primary.data, "-U", "trunkline", "--auth=scram-sha-256", `--pwfile=${file}`, "--no-sync")
    await appendFile(join(primary.data, "pg_hba.conf"), "host replication trunkline 127.0.0.1/32 scram-sha-256\n")
    // Nothing writes to the primary now, so the copied files are consistent.
    await cp(primary.data, standby.data, { recursive: true })
    const address = `host=127.0.0.1 port=${replication.port} user=trunkline password=${password}`
    await appendFile(join(standby.data, "postgresql.conf"), `primary_conninfo = '${address}'\nwal_retrieve_retry_interval = '200ms'\n`)
    await writeFile(join(standby.data, "standby.signal"), "")
    if (user !== undefined) await promisify(execFile)("chown", ["-R", `${user.uid}:${user.gid}`, standby.data])
    await chmod(standby.data, 0o700)
    await primary.start()
    await standby.start()
  }

  /** From now on, the standby receives nothing more. It has everything that was committed before. */
  async lag(): Promise<void> {
    const { primary, replication, standby } = this.#parts
    await this.#with(primary, async (source) => {
      await this.#with(standby, async (sink) => {
        await untilTrue("standby that has caught up", async () => {
          const [sent] = await source`SELECT pg_current_wal_flush_lsn()::text AS at`
          const [row] = await sink`SELECT pg_last_wal_replay_lsn() >= ${String(sent?.["at"])}::text::pg_lsn AS caught`
          return row?.["caught"] === true
        })
        await replication.refuse(true)
        replication.cut()
      })
    })
  }

  async failOver(): Promise<void> {
    const { clients, primary, standby, target } = this.#parts
    await primary.stop()
    await this.#with(standby, (sink) => sink`SELECT pg_promote(true, ${seconds})`)
    target.port = standby.port
    clients.cut()
  }

  /**
   * Promotes the standby while the primary is still running. Connections move over one by one: those for which `stay` returns true belong to
   * the old primary for some time longer, and do not learn of the change.
   */
  async moveOver(stay: (connection: Connection) => boolean): Promise<void> {
    const { clients, standby, target } = this.#parts
    await this.#with(standby, (sink) => sink`SELECT pg_promote(true, ${seconds})`)
    target.port = standby.port
    clients.freeze(stay)
    clients.cut((connection) => !stay(connection))
  }

  async #with<A>({ url }: Server, work: (sql: Witness) => Promise<A>): Promise<A> {
    const sql = witness(url)
    return await work(sql).finally(() => sql.end())
  }
}
