/** `npm start`, as a supervisor sees it, and which of the engine's threads and processes the kernel prefers. */
import { existsSync, readFileSync } from "node:fs"
import { getPriority } from "node:os"
import { join } from "node:path"
import t from "tap"
import { nicenessBeside, nicenessIn } from "#test/support/niceness.ts"
import { npmStart } from "#test/support/npmStart.ts"
import { until, untilTrue } from "#test/support/until.ts"

/** The capability to raise priorities is bit 23: https://man7.org/linux/man-pages/man7/capabilities.7.html */
const mayRaise = (): boolean => {
  const [, bits = "0"] = /^CapEff:\s*(\w+)$/m.exec(readFileSync("/proc/self/status", "utf8")) ?? []
  return ((BigInt(`0x${bits}`) >> 23n) & 1n) === 1n
}

const firstLineOf = (file: string): number => Number(readFileSync(file, "utf8").split("\n")[0])

t.test("given npm start, when the engine is ready", { skip: process.platform !== "linux" && "threads" }, async (t) => {
  const engine = await npmStart(t)
  t.equal((await fetch(`${engine.url}/api/v1/openapi.json`)).status, 200)
  const cluster = join(engine.folder, "postgres")
  const [own = ""] = readFileSync(join(cluster, "owner"), "utf8").split(" ")
  // Without that capability, nothing changes and nothing fails.
  const [foremost, ordinary] = mayRaise() ? [-10, 0] : [getPriority(0), getPriority(0)]
  t.equal(nicenessIn(`/proc/${own}/stat`), foremost, "then its main thread goes first")
  const others = nicenessBeside(Number(own))
  t.ok(others.length > 0)
  for (const niceness of others) t.ok(niceness >= getPriority(0), "then no other thread goes first")
  const postmaster = join(cluster, "cluster", "postmaster.pid")
  const first = firstLineOf(postmaster)
  t.equal(nicenessIn(`/proc/${first}/stat`), ordinary, "then neither does Postgres")
  process.kill(first, "SIGQUIT")
  const second = await until("another Postgres", () => {
    try {
      const found = firstLineOf(postmaster)
      return found > 0 && found !== first && readFileSync(`/proc/${found}/stat`, "utf8").includes("postgres") ? found : undefined
    } catch {
      return undefined
    }
  })
  t.equal(nicenessIn(`/proc/${second}/stat`), ordinary, "and one that is started later does not inherit it")
  await engine.terminate()
  await untilTrue("end of the engine and its database", () => !engine.isLeft())
  t.notOk(existsSync(postmaster), "when npm is told to stop, then the engine stops with it, and its database is shut down cleanly")
})
