/** Has Moonshine's files brought to this machine, by a process of its own: hashing and unpacking them would hold up the engine for seconds. */
import { fork } from "node:child_process"
import { fileURLToPath } from "node:url"
import { Effect, Schema } from "effect"
import type { FetchMessage, FetchRequest } from "./fetchWorker.ts"

/** The message says why, in npm's words. */
class NotFetched extends Schema.TaggedError<NotFetched>()("NotFetched", { message: Schema.String }) {}

const program = new URL("./fetchWorker.ts", import.meta.url)

/** Variables by their names. */
export type NpmEnvironment = Readonly<Record<string, string | undefined>>

/**
 * Succeeds once everything is there, which it may have been. What has been brought before a failure stays. `environment`: what npm needs of the engine's,
 * which also holds secrets.
 */
export const fetchMoonshine = (request: FetchRequest, environment: NpmEnvironment): Effect.Effect<void, NotFetched> =>
  Effect.callback<void, NotFetched>((resume) => {
    const child = fork(fileURLToPath(program), [], { env: environment, execArgv: [], stdio: ["ignore", "ignore", "ignore", "ipc"] })
    child.unref()
    child.channel?.unref()
    let why: string | undefined
    child.on("message", (message: FetchMessage) => {
      if (message._tag === "Failed") ({ why } = message)
    })
    const failed = (message: string) => resume(Effect.fail(new NotFetched({ message })))
    child.on("error", ({ message }) => failed(message))
    child.on("exit", (code) => (code === 0 && why === undefined ? resume(Effect.void) : failed(why ?? "the process has ended")))
    child.send(request, () => {})
    return Effect.sync(() => void child.kill("SIGKILL"))
  })
