/** One process of the engine, on a clean environment of its own. */
import { spawn } from "node:child_process"
import { fileURLToPath } from "node:url"
import { until } from "./until.ts"

const main = fileURLToPath(new URL("./engineStart.js", import.meta.url))
/** With two dozen others at work on the machine, reading the code alone takes half a minute. */
const startMillis = 120_000

export type Environment = Readonly<Record<string, string>>

type Signal = "SIGKILL" | "SIGTERM" | "SIGSTOP" | "SIGCONT"

/** One process of the engine, from its beginning to its end. */
export interface EngineProcess {
  /** Its address, once it has said that it is ready. Fails when it ends before that. */
  readonly ready: Promise<string>
  /** Everything it has written so far. */
  readonly output: () => string
  /** Settled at the end of the process. */
  readonly exited: Promise<{ readonly code: number | null; readonly signal: NodeJS.Signals | null }>
  readonly kill: (signal: Signal) => void
  /** Sets its wall clock forward, or back; that of the callees' log and of the database goes on as it was. */
  readonly stepClock: (millis: number) => void
  /** Whether there is room on the disk for its local journal. */
  readonly setDisk: (state: "full" | "free") => void
}

/** One that is ready. */
export interface Engine extends EngineProcess {
  readonly url: string
}

export const spawnEngine = (environment: Environment): EngineProcess => {
  const variables = Object.entries(environment).map(([name, value]) => `${name}=${value}`)
  // Through env, because tap has every Node it sees started report its coverage. Its input ends with us, and the engine with that.
  const child = spawn("env", ["-i", ...variables, process.execPath, main], { stdio: ["pipe", "pipe", "pipe"] })
  let output = ""
  for (const stream of [child.stdout, child.stderr]) {
    stream.on("data", (chunk: Buffer) => {
      output += chunk.toString()
    })
  }
  // Killed while it is told something.
  child.stdin.on("error", () => {})
  const exited = new Promise<Awaited<EngineProcess["exited"]>>((resolve) => {
    child.once("close", (code, signal) => resolve({ code, signal }))
  })
  const ready = until(
    "ready line of the engine",
    () => {
      const address = /Trunkline is ready at (\S+)/.exec(output)?.[1]
      if (address === undefined && (child.exitCode !== null || child.signalCode !== null))
        throw new Error(`the engine did not start:\n${output}`)
      return address
    },
    startMillis
  )
  // Whoever kills it as it starts does not wait for it.
  ready.catch(() => {})
  return {
    ready,
    output: () => output,
    exited,
    kill: (signal) => child.kill(signal),
    stepClock: (millis) => void child.stdin.write(`step ${millis}\n`),
    setDisk: (state) => void child.stdin.write(`disk ${state}\n`)
  }
}

export const startEngine = async (environment: Environment): Promise<Engine> => {
  const engine = spawnEngine(environment)
  return { ...engine, url: await engine.ready }
}
