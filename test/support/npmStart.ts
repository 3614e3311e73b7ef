/** The service as an operator starts it: by a command, with a clean environment, the embedded Postgres and an empty data folder. */
import { spawn } from "node:child_process"
import { fileURLToPath } from "node:url"
import type { Test } from "tap"
import { temporaryFolder } from "./dataFolder.ts"
import { until, untilTrue } from "./until.ts"

export const root = fileURLToPath(new URL("../..", import.meta.url))

interface Command {
  readonly words: ReadonlyArray<string>
  readonly cwd: string
}

export const npmStart = (t: Test, environment: Readonly<Record<string, string>> = {}) =>
  startService(t, { words: ["npm", "start"], cwd: root }, environment)

/** Resolves when the service is ready. Whatever remains of it is killed when the test ends. */
export const startService = async (t: Test, { cwd, words }: Command, environment: Readonly<Record<string, string>>) => {
  const folder = temporaryFolder(t)
  const settings = {
    DATA_DIR: folder,
    HEARING: "off",
    HOME: folder,
    METRICS: "off",
    PATH: process.env["PATH"] ?? "",
    PORT: "0",
    ...environment
  }
  const variables = Object.entries(settings).map(([name, value]) => `${name}=${value}`)
  // A separate process group, so that nothing that the command leaves behind outlives the test.
  const command = spawn("env", ["-i", ...variables, ...words], { cwd, detached: true, stdio: ["ignore", "pipe", "inherit"] })
  const { pid } = command
  if (pid === undefined) throw new Error(`${words[0]} was not started`)
  const ended = new Promise((resolve) => command.once("exit", resolve))
  let output = ""
  command.stdout.on("data", (chunk: Buffer) => {
    output += chunk.toString()
  })
  /** Whether the command, or anything that it started, is still running. */
  const isLeft = () => {
    try {
      return process.kill(-pid, 0)
    } catch {
      return false
    }
  }
  t.teardown(async () => {
    if (isLeft()) process.kill(-pid, "SIGKILL")
    await untilTrue("end of the group", () => !isLeft())
  })
  const url = await until("ready line of the engine", () => /Trunkline is ready at (\S+)/.exec(output)?.[1])
  /** Sends SIGTERM to the command only. Resolves when it has exited. */
  const terminate = async () => {
    process.kill(pid, "SIGTERM")
    await ended
  }
  return { url, folder, output: () => output, terminate, isLeft }
}
