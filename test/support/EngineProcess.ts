/** The engine as a separate process with a clean environment. */
import { spawn } from "node:child_process"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import type { Test } from "tap"
import { makeOrdinary } from "#runtime/process/ownPriority.ts"
import { until, untilTrue } from "./until.ts"

const start = fileURLToPath(new URL("./engineStart.js", import.meta.url))
/** Set by `runAll.ts`, which has built the program. Otherwise each engine first compares all sources with its build. */
const built = process.env["TEST_ENGINE"]
const program = built === undefined ? [start] : [start, built]

export type Environment = Readonly<Record<string, string>>

type Signal = "SIGKILL" | "SIGTERM" | "SIGSTOP" | "SIGCONT"

/** An engine process, from its start to its exit. */
export interface EngineProcess {
  /** Resolves with its URL when it has printed that it is ready. Rejects if it exits before that. */
  readonly ready: Promise<string>
  /** Everything that it has written so far. */
  readonly output: () => string
  /** Resolves when the process exits. */
  readonly exited: Promise<{ readonly code: number | null; readonly signal: NodeJS.Signals | null }>
  readonly pid: number | undefined
  readonly kill: (signal: Signal) => void
  /** Sets its wall clock forward or back; the clocks of the callees' log and of the database are not affected. */
  readonly stepClock: (millis: number) => void
  /** With PACED=on: lets this much of its time pass in a tenth of it. Callees and the database keep real time. Once per process and length. */
  readonly forward: (millis: number) => Promise<true>
  /** Resolves when its event loop has turned, which a busy machine may delay. */
  readonly turned: () => Promise<true>
  /** Whether the disk has room for its local journal. */
  readonly setDisk: (state: "full" | "free") => void
}

/** A process that is ready. */
export interface Engine extends EngineProcess {
  readonly url: string
}

/**
 * Resolves when a process has written this. A test that reads the output at once may be too early: the line can come after the effect by which the test knew
 * of it, and it passes through a pipe.
 */
export const wrote = (process: Pick<EngineProcess, "output">, what: string | RegExp): Promise<true> =>
  untilTrue(`${what} in the output`, () => (typeof what === "string" ? process.output().includes(what) : what.test(process.output())))

/** `folder`: where the packages of its adapters and services are installed. `release`: the folder of another release of the program. */
export const spawnEngine = (environment: Environment, folder?: string, release?: string): EngineProcess => {
  const words = release === undefined ? program : [join(release, "test/support/engineStart.js")]
  // Whatever is installed on this machine, agents have a recognizer only in tests that ask for one, and no service elsewhere is asked about a key.
  const variables = Object.entries({ HEARING: "off", KEY_TRIALS: "off", POCKETSPHINX_DIR: "off", ...environment }).map(
    ([name, value]) => `${name}=${value}`
  )
  // Through env, because tap makes every Node process that it sees report its coverage. The engine exits when its input closes, as it does
  // when we exit.
  const child = spawn("env", ["-i", ...variables, process.execPath, ...words], { cwd: folder, stdio: ["pipe", "pipe", "pipe"] })
  // This process may have raised its own priority, which the engine would inherit.
  if (child.pid !== undefined) makeOrdinary(child.pid)
  let output = ""
  for (const stream of [child.stdout, child.stderr]) {
    stream.on("data", (chunk: Buffer) => {
      output += chunk.toString()
    })
  }
  // The process may be killed while something is written to its input.
  child.stdin.on("error", () => {})
  const exited = new Promise<Awaited<EngineProcess["exited"]>>((resolve) => {
    child.once("close", (code, signal) => resolve({ code, signal }))
  })
  const ready = until("ready line of the engine", () => {
    const address = /Trunkline is ready at (\S+)/.exec(output)?.[1]
    if (address === undefined && (child.exitCode !== null || child.signalCode !== null))
      throw new Error(`the engine did not start:\n${output}`)
    return address
  })
  // Marks a rejection as handled: a test that kills the process during its start does not wait for it.
  ready.catch(() => {})
  let turns = 0
  const turned = () => {
    const turn = ++turns
    child.stdin.write(`turn ${turn}\n`)
    return untilTrue("turn of the engine", () => output.includes(`turned ${turn}\n`))
  }
  const forward = (millis: number) => {
    child.stdin.write(`forward ${millis}\n`)
    return untilTrue(`${millis} ms of the engine`, () => output.includes(`forwarded ${millis}\n`))
  }
  return {
    ready,
    output: () => output,
    turned,
    exited,
    pid: child.pid,
    kill: (signal) => child.kill(signal),
    forward,
    stepClock: (millis) => void child.stdin.write(`step ${millis}\n`),
    setDisk: (state) => void child.stdin.write(`disk ${state}\n`)
  }
}

export const startEngine = async (environment: Environment, folder?: string): Promise<Engine> => {
  const engine = spawnEngine(environment, folder)
  return { ...engine, url: await engine.ready }
}

/** Kills it when the test ends, even while it stands still. */
export const endsWith = (t: Pick<Test, "teardown">, engine: EngineProcess): void =>
  t.teardown(async () => {
    engine.kill("SIGCONT")
    engine.kill("SIGKILL")
    await engine.exited
  })
