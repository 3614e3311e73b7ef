/** `npm start`, as whoever supervises it sees it. */
import { spawn } from "node:child_process"
import { existsSync } from "node:fs"
import { mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import t from "tap"
import { until, untilTrue } from "#test/support/until.ts"

const root = fileURLToPath(new URL("../..", import.meta.url))

t.test("given npm start, when npm is told to end, then the engine ends with it", async (t) => {
  const folder = await mkdtemp(join(tmpdir(), "npm-start-"))
  const settings = { DATA_DIR: folder, HOME: folder, METRICS: "off", PATH: process.env["PATH"] ?? "", PORT: "0" }
  const variables = Object.entries(settings).map(([name, value]) => `${name}=${value}`)
  // A group of its own, so that nothing of it survives the test, whatever npm leaves behind.
  const npm = spawn("env", ["-i", ...variables, "npm", "start"], { cwd: root, detached: true, stdio: ["ignore", "pipe", "inherit"] })
  const { pid } = npm
  if (pid === undefined) throw new Error("npm was not started")
  const ended = new Promise((resolve) => npm.once("exit", resolve))
  let output = ""
  npm.stdout.on("data", (chunk: Buffer) => {
    output += chunk.toString()
  })
  const isGroupLeft = () => {
    try {
      return process.kill(-pid, 0)
    } catch {
      return false
    }
  }
  t.teardown(async () => {
    if (isGroupLeft()) process.kill(-pid, "SIGKILL")
    await untilTrue("end of the group", () => !isGroupLeft())
    await rm(folder, { recursive: true, force: true })
  })
  const url = await until("ready line of the engine", () => /Trunkline is ready at (\S+)/.exec(output)?.[1], 180_000)
  t.equal((await fetch(`${url}/api/v1/openapi.json`)).status, 200)
  const postmaster = join(folder, "postgres", "cluster", "postmaster.pid")
  t.ok(existsSync(postmaster))
  process.kill(pid, "SIGTERM")
  await ended
  await untilTrue("end of the engine and its database", () => !isGroupLeft(), 120_000)
  t.notOk(existsSync(postmaster), "then its database was stopped in order")
})
