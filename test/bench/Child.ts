/** Processes of the benchmarks: whatever is measured has its own event loop. */
import { Effect, type Scope } from "effect"
import { type ChildProcess, fork } from "node:child_process"
import { setPriority } from "node:os"
import { createInterface } from "node:readline"
import { fileURLToPath } from "node:url"

const stopMillis = 15_000
const keptLines = 20

export interface Child {
  readonly pid: number
  readonly send: (message: object) => void
  /** What the next message has under this name. */
  readonly told: <A>(name: string) => Effect.Effect<A>
  /** Sends a message, and returns what it is told under this name from then on. */
  readonly ask: <A>(question: object, name: string) => Effect.Effect<A>
  /** The first line of its output that matches, with its groups. */
  readonly line: (pattern: RegExp) => Effect.Effect<RegExpExecArray>
}

const prioritized =
  (niceness: number) =>
  <A extends { readonly pid: number }, E, R>(started: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
    Effect.tap(started, ({ pid }) =>
      Effect.sync(() => {
        // Only root may raise a priority.
        if (niceness > 0 || process.getuid?.() === 0) setPriority(pid, niceness)
      })
    )

/** A process that judges by its clock when something arrives would, on a fully loaded machine, only record when it got to run. */
export const judging = prioritized(-10)
/** A client that stands for a remote one must not use the processors of the server under test. */
export const fromElsewhere = prioritized(10)

interface Program {
  /** Relative to this folder. */
  readonly file: string
  readonly environment?: NodeJS.ProcessEnv
  readonly nodeOptions?: ReadonlyArray<string>
  /** Where it is started: in the benchmarks' folder unless set. */
  readonly cwd?: string | undefined
}

const ended = (process: ChildProcess) => process.exitCode !== null || process.signalCode !== null

const stop = (process: ChildProcess) =>
  Effect.callback<void>((resume) => {
    if (ended(process)) return resume(Effect.void)
    const late = setTimeout(() => process.kill("SIGKILL"), stopMillis)
    process.once("exit", () => {
      clearTimeout(late)
      resume(Effect.void)
    })
    process.kill("SIGTERM")
  })

/** What `listen` hands over; dies if the process ends first. `listen` returns how to stop listening. */
const heard = <A>(process: ChildProcess, failed: () => Error, listen: (give: (value: A) => void) => () => void) =>
  Effect.callback<A>((resume) => {
    const gone = () => resume(Effect.die(failed()))
    if (ended(process)) return gone()
    process.once("exit", gone)
    const quit = () => {
      process.off("exit", gone)
      stopListening()
    }
    const stopListening = listen((value) => {
      quit()
      resume(Effect.succeed(value))
    })
    return Effect.sync(quit)
  })

/** Runs until the scope closes. Errors that it logs are printed. */
export const startChild = ({ cwd, environment, file, nodeOptions }: Program): Effect.Effect<Child, never, Scope.Scope> =>
  Effect.acquireRelease(
    Effect.sync(() => {
      const options = { cwd, env: environment, execArgv: [...(nodeOptions ?? [])], stdio: ["ignore", "pipe", "pipe", "ipc"] as const }
      return fork(fileURLToPath(new URL(file, import.meta.url)), { ...options, stdio: [...options.stdio] })
    }),
    stop
  ).pipe(
    Effect.map((process) => {
      const tail: Array<string> = []
      const listeners = new Set<(line: string) => void>()
      for (const output of [process.stdout, process.stderr]) {
        if (output === null) continue
        createInterface({ input: output }).on("line", (line) => {
          tail.push(line)
          tail.splice(0, tail.length - keptLines)
          if (/"level":"(Error|Fatal)"/.test(line)) console.error(line)
          for (const listener of listeners) listener(line)
        })
      }
      const failed = () => new Error([`${file} has ended by itself`, ...tail].join("\n"))
      const told = <A>(name: string) =>
        heard<A>(process, failed, (give) => {
          const listen = (message: unknown) => {
            // Nobody else sends messages over this channel.
            if (message instanceof Object && name in message) give(Reflect.get(message, name) as A)
          }
          process.on("message", listen)
          return () => process.off("message", listen)
        })
      return {
        pid: process.pid ?? 0,
        send: (message) => {
          process.send(message)
        },
        told,
        ask: <A>(question: object, name: string) =>
          Effect.suspend(() => {
            process.send(question)
            return told<A>(name)
          }),
        line: (pattern) =>
          heard<RegExpExecArray>(process, failed, (give) => {
            const listen = (line: string) => {
              const match = pattern.exec(line)
              if (match !== null) give(match)
            }
            listeners.add(listen)
            return () => listeners.delete(listen)
          })
      }
    })
  )
