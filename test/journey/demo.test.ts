/** The demo as a newcomer runs it, with fewer contacts: it comes to its end by itself, and every call to what it had to. */
import { execFile } from "node:child_process"
import { chmod, mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { promisify } from "node:util"
import t from "tap"
import type { Summary } from "#test/demo/Summary.ts"

const run = promisify(execFile)
const demo = fileURLToPath(new URL("../demo/demo.ts", import.meta.url))
/** Holds the answers that the demo gets against the API's document. */
const documented = ["--import", fileURLToPath(new URL("../support/documentedFetch.ts", import.meta.url))]
/** Its callees live in its own process. */
const first = ["--import", fileURLToPath(new URL("../support/priority.ts", import.meta.url))]
/** It takes less than a minute, unless the machine is busy with other work. */
const longestMillis = 1_200_000

/** Without tap's own environment, which has every Node it sees report its coverage. */
const environment = ["-i", `PATH=${process.env["PATH"]}`, `HOME=${tmpdir()}`]

t.test("given nothing but the project", { timeout: longestMillis + 60_000 }, async (t) => {
  const folder = await mkdtemp(join(tmpdir(), "trunkline-demo-"))
  // Postgres, which does not run as root, has to pass.
  await chmod(folder, 0o711)
  t.teardown(() => rm(folder, { recursive: true, force: true }))
  const args = ["--json", "--contacts", "40", "--data", join(folder, "data")]

  await t.test("when the demo calls 40 contacts, then all of them come to what their numbers stand for", async (t) => {
    const { stdout } = await run("env", [...environment, process.execPath, ...documented, ...first, demo, ...args], {
      timeout: longestMillis
    })
    // Of the demo's own making.
    const summary = JSON.parse(stdout) as Summary
    t.strictSame(summary.problems, [])
    t.match(summary, { ok: true, mode: "emulator", contacts: { total: 40 }, calls: { dialedTwice: 0 } })
    t.equal(summary.calls.recorded, summary.calls.seenByCallees)
    t.equal(summary.contacts.completed + summary.contacts.failed, 40)
    t.equal(summary.retries.done, summary.retries.scheduled)
    t.ok(summary.retries.done > 0)
    t.ok(summary.slots.most <= summary.slots.limit)
    t.equal(summary.rows.length, 12)
  })

  await t.test("when it is asked for what it cannot do, then it says so and fails", async (t) => {
    const refused = run("env", [...environment, process.execPath, demo, "--slots", "0"], { timeout: longestMillis })
    await t.rejects(refused, { code: 1, stderr: /--slots must be a whole number from 1 to 100/ })
  })
})
