/** The service as a separate process, with the embedded Postgres and an empty folder, in which it also writes its log. */
import { type ChildProcess, spawn } from "node:child_process"
import { randomBytes } from "node:crypto"
import { createWriteStream } from "node:fs"
import { chmod, mkdir, readFile } from "node:fs/promises"
import { join, relative, resolve } from "node:path"
import { createInterface } from "node:readline"
import { fileURLToPath } from "node:url"
import { variables } from "#runtime/config/config.ts"
import { startOf } from "#runtime/process/FolderOwner.ts"
import { freePort } from "#test/support/freePort.ts"
import { removeData, stopPostgres } from "#test/support/dataFolder.ts"
import { DemoFailed } from "./DemoFailed.ts"
import { installRecognizer } from "#test/support/installRecognizer.ts"
import type { Speech } from "./TalkingCallee.ts"
import { Warnings } from "./Warnings.ts"

interface Service {
  readonly url: string
  readonly key: string
  readonly folder: string
  readonly startMillis: number
  /** Never resolves; rejects if the service ends before `stop` is called. */
  readonly died: Promise<never>
  readonly warnings: () => ReadonlyArray<string>
  readonly stop: () => Promise<void>
}

const program = fileURLToPath(new URL("../../runtime/start.js", import.meta.url))
const startMillis = 600_000
/** More than the service needs to hang up and to stop its Postgres. */
const stopMillis = 45_000
const keptErrors = 8

/** The path as a person would type it. */
export const shown = (path: string): string => {
  const short = relative(process.cwd(), path)
  return short.startsWith("..") ? path : short
}

/** Empties the folder, unless a service still uses it. */
const emptied = async (folder: string): Promise<void> => {
  const postgres = join(folder, "postgres")
  const [pid, start] = (await readFile(join(postgres, "owner"), "utf8").catch(() => "")).split(" ")
  if (start !== undefined && startOf(Number(pid)) === start) {
    throw new DemoFailed(
      `${shown(folder)} is in use by process ${pid}, perhaps another demo: end that one first, or give this one another folder with --data.`
    )
  }
  await removeData(folder)
  await mkdir(folder, { recursive: true })
  // Postgres does not run as root, and its user must be able to enter the folder.
  await chmod(folder, 0o711)
}

/** Leaves out the settings in the shell's environment, which are meant for another service. */
const environmentOf = (settings: Readonly<Record<string, string>>) => {
  const names = new Set(variables.map(({ name }) => name))
  return { ...Object.fromEntries(Object.entries(process.env).filter(([name]) => !names.has(name))), ...settings }
}

/** The service needs the carrier's address and its own public address when it starts. */
const lineTo = (provider: string, apiUrl: string, port: number) => ({
  PROVIDER_URLS: `${provider}=${apiUrl}`,
  PUBLIC_URL: `http://127.0.0.1:${port}`
})

const endOf = (child: ChildProcess) =>
  new Promise<string>((resolve) => {
    child.once("error", (error) => resolve(error.message))
    child.once("exit", (code, signal) => resolve(signal === null ? `exit code ${code}` : signal))
  })

export const startService = async (settings: {
  readonly data: string
  readonly port: number
  readonly slots: number
  readonly rate: number
  readonly ringSeconds: number
  readonly provider: string
  /** The carrier's address; undefined: the provider's calls need none. */
  readonly apiUrl: string | undefined
  /** What callees will say, for the package that recognizes it; undefined: callees do not talk. */
  readonly speech: Speech | undefined
  /** Aborts the start. */
  readonly signal: AbortSignal
}): Promise<Service> => {
  const folder = resolve(settings.data)
  await emptied(folder)
  const { apiUrl, provider, speech } = settings
  const port = settings.port === 0 ? await freePort() : settings.port
  const key = `demo_${randomBytes(16).toString("hex")}`
  const began = performance.now()
  const child = spawn(process.execPath, [program], {
    cwd: folder,
    // Ctrl-C reaches only the demo, which then ends the service.
    detached: true,
    stdio: ["ignore", "pipe", "pipe"],
    env: environmentOf({
      ...(apiUrl === undefined ? {} : lineTo(provider, apiUrl, port)),
      ...(speech === undefined ? {} : installRecognizer(folder, speech)),
      ADAPTERS: provider,
      API_KEY: key,
      CALL_RATE: String(settings.rate),
      DATA_DIR: folder,
      DRAIN: "1",
      HEARING: "off",
      LOG_FORMAT: "json",
      ORG_CONCURRENCY: String(settings.slots),
      PORT: String(port),
      RING_TIMEOUT: String(settings.ringSeconds),
      TRUNK_RATE: String(settings.rate)
    })
  })
  const killed = () => child.kill("SIGKILL")
  process.once("exit", killed)
  const logFile = join(folder, "service.log")
  const log = createWriteStream(logFile)
  const errors: Array<string> = []
  const warnings = new Warnings()
  createInterface({ input: child.stderr }).on("line", (line) => {
    log.write(`${line}\n`)
    errors.push(line)
    errors.splice(0, errors.length - keptErrors)
  })
  const ready = new Promise<string>((resolve) => {
    createInterface({ input: child.stdout }).on("line", (line) => {
      log.write(`${line}\n`)
      warnings.read(line)
      const [, url] = /^Trunkline is ready at (\S+)/.exec(line) ?? []
      if (url !== undefined) resolve(url)
    })
  })

  let isAsked = false
  const ended = endOf(child)
  const failed = (what: string) => new DemoFailed([`The service ${what}.`, ...errors, `Its log is ${shown(logFile)}`].join("\n"))
  const died = ended.then((how) => (isAsked ? new Promise<never>(() => {}) : Promise.reject(failed(`has ended (${how})`))))
  died.catch(() => {})
  const stop = async () => {
    isAsked = true
    child.kill("SIGTERM")
    const late = setTimeout(killed, stopMillis)
    await ended
    clearTimeout(late)
    process.off("exit", killed)
    await stopPostgres(folder)
    log.end()
  }

  let late: NodeJS.Timeout | undefined
  const tooLate = new Promise<never>((_, reject) => {
    late = setTimeout(() => reject(failed(`was not ready after ${startMillis / 1000} s`)), startMillis)
    settings.signal.addEventListener("abort", () => reject(settings.signal.reason))
  })
  try {
    const url = await Promise.race([ready, died, tooLate])
    return { url, key, folder, startMillis: performance.now() - began, died, stop, warnings: () => warnings.told() }
  } catch (error) {
    await stop()
    throw error
  } finally {
    clearTimeout(late)
  }
}
