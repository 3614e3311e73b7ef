/**
 * A real Asterisk with its own callee for one test, from deploy/asterisk; deploy/asterisk/conf/extensions.conf lists what each number does.
 * It stops when the process that started it exits, in whatever way.
 */
import { spawn } from "node:child_process"
import { mkdtemp, readFile, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { runScript, unavailable } from "./fromDebian.ts"

interface AsteriskOptions {
  /** The Stasis application that inbound calls enter. */
  readonly app?: string
  /** Where Asterisk connects for `external_host=media`. */
  readonly mediaUri?: string
  /** How many ports to use; the default is enough for 300 calls at once. */
  readonly ports?: number
}

/** What the callee received; `at` is in epoch milliseconds. Retransmissions are not counted. */
type CalleeEvent = "invite" | "bye" | "cancel"
interface CalleeRecord {
  readonly number: string
  readonly at: number
  readonly sipCallId: string
}

export interface Asterisk {
  /** The URL with `/ari`, without a trailing slash. */
  readonly ariUrl: string
  readonly user: string
  readonly password: string
  readonly mediaUri: string
  readonly runFolder: string
  readonly pids: () => Promise<ReadonlyArray<number>>
  /**
   * The calls that reached the SIPp callee, in order and across crashes of Asterisk; or those that we hung up after (`bye`) or before (`cancel`)
   * the answer.
   */
  readonly sippLog: (what?: CalleeEvent) => Promise<Array<CalleeRecord>>
  /** Runs a command on Asterisk's console and returns its output. */
  readonly ctl: (command: string) => Promise<string>
  /** Kills Asterisk with SIGKILL. The callee keeps running, with its calls. */
  readonly crash: () => Promise<void>
  /** Starts Asterisk again on the same ports; one that is still running is killed first. */
  readonly restart: () => Promise<void>
  readonly stop: () => Promise<void>
}

interface Instance {
  readonly ariUrl: string
  readonly user: string
  readonly password: string
  readonly mediaUri: string
  readonly asteriskPid: number
  readonly calleePid: number
}

const script = (name: string) => fileURLToPath(new URL(`../../deploy/asterisk/${name}`, import.meta.url))
const commandMillis = 600_000

/** The log behind `sippLog`, for the instance in this folder. */
export const calleeLog = async (runFolder: string, what: CalleeEvent): Promise<Array<CalleeRecord>> => {
  const lines = (await readFile(join(runFolder, "log/calls"), "utf8")).split("\n")
  return lines.flatMap((line) => {
    // SIPp writes the time as date, time of day, and seconds since the epoch.
    const [, , seconds, event, number, sipCallId] = line.split(/\s+/)
    return event === what && number !== undefined && sipCallId !== undefined
      ? [{ number, sipCallId, at: Math.round(Number(seconds) * 1_000) }]
      : []
  })
}

/** See `unavailable`; for Asterisk and its callee. */
export const asteriskUnavailable = unavailable(script("install"))

export const startAsterisk = async ({ app, mediaUri, ports }: AsteriskOptions = {}): Promise<Asterisk> => {
  const reason = await asteriskUnavailable()
  if (reason !== undefined) throw new Error(reason)
  const runFolder = await mkdtemp(join(tmpdir(), "trunkline-asterisk-"))
  const environment = {
    ASTERISK_RUN: runFolder,
    ...(app !== undefined && { ASTERISK_APP: app }),
    ...(mediaUri !== undefined && { ASTERISK_MEDIA_URI: mediaUri }),
    ...(ports !== undefined && { ASTERISK_PORTS: String(ports) })
  }
  const run = (name: string, ...args: ReadonlyArray<string>) => runScript(script(name), args, environment, commandMillis)
  const command = async (name: string, ...args: ReadonlyArray<string>): Promise<string> => {
    const { status, stderr, stdout } = await run(name, ...args)
    if (status !== 0) throw new Error(stderr.trim())
    return stdout
  }

  // This pipe closes when we exit, even by SIGKILL, and the script then stops the instance.
  const stopper = spawn(script("stop"), ["--at-end-of-input"], {
    env: { ...process.env, ...environment },
    stdio: ["pipe", "ignore", "ignore"],
    detached: true
  })
  stopper.unref()
  const stopped = new Promise<number | null>((resolve) => stopper.once("exit", resolve))
  const stop = async () => {
    stopper.ref()
    stopper.stdin.end()
    const status = await stopped
    if (status !== 0) throw new Error(`The Asterisk in ${runFolder} could not be stopped`)
    await rm(runFolder, { recursive: true, force: true })
  }

  // The cast holds because `start` writes this JSON.
  const instance = async () => JSON.parse(await readFile(join(runFolder, "instance.json"), "utf8")) as Instance
  try {
    await command("start")
  } catch (error) {
    stopper.stdin.end()
    throw error
  }
  const { asteriskPid: _, calleePid: __, ...addresses } = await instance()
  return {
    ...addresses,
    runFolder,
    pids: async () => {
      const { asteriskPid, calleePid } = await instance()
      return [asteriskPid, calleePid]
    },
    sippLog: (what = "invite") => calleeLog(runFolder, what),
    ctl: (text) => command("ctl", text),
    crash: async () => {
      await command("crash")
    },
    restart: async () => {
      await run("crash")
      await command("start")
    },
    stop
  }
}
