/** A real Redis for one test, unpacked from Debian's package. It keeps nothing on disk, and exits with the process that started it. */
import { type ChildProcess, spawn } from "node:child_process"
import { once } from "node:events"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { Redis as Client } from "ioredis"
import type { Test } from "tap"
import { temporaryFolder } from "./dataFolder.ts"
import { freePort } from "./freePort.ts"
import { unavailable } from "./fromDebian.ts"
import { untilTrue } from "./until.ts"

const script = (name: string) => fileURLToPath(new URL(`./redis/${name}`, import.meta.url))
export const redisUnavailable = unavailable(script("install"))
const root = join(process.env["REDIS_CACHE"] ?? fileURLToPath(new URL("../../.cache/redis", import.meta.url)), "root-1")

class RedisServer {
  readonly port: number
  readonly #args: ReadonlyArray<string>
  readonly #folder: string
  readonly #password: string | undefined
  #process: ChildProcess | undefined

  constructor(port: number, folder: string, password: string | undefined, args: ReadonlyArray<string>) {
    this.port = port
    this.#folder = folder
    this.#password = password
    this.#args = args
  }

  get url(): string {
    return `redis://${this.#password === undefined ? "" : `:${this.#password}@`}127.0.0.1:${this.port}`
  }

  /** Resolves when it answers. */
  async start(): Promise<void> {
    const settings = ["--bind", "127.0.0.1", "--port", String(this.port), "--dir", this.#folder, "--save", ""]
    const password = this.#password === undefined ? [] : ["--requirepass", this.#password]
    this.#process = spawn(script("run"), [...this.#args, ...settings, ...password], {
      env: { ...process.env, REDIS_ROOT: root },
      stdio: "ignore"
    })
    await untilTrue("answer of Redis", () =>
      this.ask("PING").then(
        () => true,
        () => false
      )
    )
  }

  /** Kills it, with all that it knows. */
  async stop(): Promise<void> {
    const running = this.#process
    this.#process = undefined
    if (running === undefined) return
    const exited = once(running, "exit")
    running.kill("SIGKILL")
    await exited
  }

  /** It keeps its connections, and answers nobody. */
  freeze(): void {
    this.#process?.kill("SIGSTOP")
  }
  wake(): void {
    this.#process?.kill("SIGCONT")
  }

  /** Deletes all keys and scripts. */
  async wipe(): Promise<void> {
    await this.ask("FLUSHALL")
    await this.ask("SCRIPT", "FLUSH")
  }

  /** Runs a command on a connection of its own. */
  async ask(command: string, ...args: ReadonlyArray<string>): Promise<unknown> {
    const client = new Client(this.url, { lazyConnect: true, retryStrategy: () => null })
    client.on("error", () => {})
    try {
      await client.connect()
      return await client.call(command, ...args)
    } finally {
      client.disconnect()
    }
  }
}

interface RedisOptions {
  /** By default, one that is free. */
  readonly port?: number
  readonly password?: string
  /** Of its command line. */
  readonly args?: ReadonlyArray<string>
}

/** A server that is not started yet. It is killed when the test ends. */
export const redisServer = async (t: Pick<Test, "teardown">, { args = [], password, port }: RedisOptions = {}): Promise<RedisServer> => {
  const server = new RedisServer(port ?? (await freePort()), await temporaryFolder(t), password, args)
  t.teardown(() => server.stop())
  return server
}

export const startRedis = async (t: Pick<Test, "teardown">, options?: RedisOptions): Promise<RedisServer> => {
  const server = await redisServer(t, options)
  await server.start()
  return server
}
