/** The demo as a newcomer runs it, with fewer contacts and through each provider: it ends by itself, and every call ends as it must. */
import { execFile } from "node:child_process"
import { chmod, mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { promisify } from "node:util"
import t, { type Test } from "tap"
import { conversationsThrough } from "#test/demo/Appointments.ts"
import { providers } from "#test/demo/Callees.ts"
import type { Summary } from "#test/demo/Summary.ts"

// Most of the time is spent waiting for calls and retries, but a demo starts with its busiest seconds: a database, an engine, and all calls at
// once.
t.jobs = 2

const run = promisify(execFile)
const demo = fileURLToPath(new URL("../demo/demo.ts", import.meta.url))
/** Checks the answers that the demo gets against the API's document. */
const documented = ["--import", fileURLToPath(new URL("../support/documentedFetch.ts", import.meta.url))]
/** Its callees run in its own process, which must not fall behind. */
const first = ["--import", fileURLToPath(new URL("../support/priority.ts", import.meta.url))]
/** As in `support/runAll.ts`; otherwise each demo would strip and compile its three hundred sources again. */
const stripped = ["--import", fileURLToPath(new URL("../support/stripped.js", import.meta.url))]
const cache = process.env["NODE_COMPILE_CACHE"]
const compiled = cache === undefined ? [] : [`NODE_COMPILE_CACHE=${cache}`]
/** It takes about a minute, unless the machine is busy with other work. */
const longestMillis = 1_200_000

/** Without tap's own environment, which makes every Node process report its coverage. */
const environment = ["-i", `PATH=${process.env["PATH"]}`, `HOME=${tmpdir()}`, ...compiled]

const ask = (...args: ReadonlyArray<string>) =>
  run("env", [...environment, process.execPath, ...stripped, ...documented, ...first, demo, ...args], { timeout: longestMillis })

/** The demo's JSON output. A demo that finds something wrong reports it there, and fails. */
const summaryOf = async (...args: ReadonlyArray<string>): Promise<Summary> => {
  const { stdout } = await ask("--json", ...args).catch((error: { readonly stdout?: string }) => {
    if (!error.stdout) throw error
    return { stdout: error.stdout }
  })
  // The cast holds because the demo writes this JSON.
  return JSON.parse(stdout) as Summary
}

/** While a process stands still, nobody hears or says anything, which proves nothing: such a demo gets a second chance to show what they hear. */
const isJudgeable = ({ ok, problems }: Summary): boolean => ok || !problems.some((problem) => problem.includes("process stood still"))

const newFolder = async (t: Test): Promise<string> => {
  const folder = await mkdtemp(join(tmpdir(), "trunkline-demo-"))
  // Postgres does not run as root, and must be able to pass through the folder.
  await chmod(folder, 0o711)
  t.teardown(() => rm(folder, { recursive: true, force: true }))
  return join(folder, "data")
}

/** Fewer at once than by default, so that a machine without priorities has time for callees who have answered. */
const slots = 10

/** One callee of each kind. */
const contacts = 12

/** Of the hosted carriers, the first of this run (`support/partOfRun.ts`). */
const carriers = process.env["TEST_CARRIERS"]?.split(",").slice(0, 1)
const taken = providers.filter((provider) => provider === "ari" || carriers?.includes(provider) !== false)

for (const provider of taken) {
  t.test(`given nothing but the project, and ${provider}`, { buffered: true, timeout: 2 * longestMillis + 60_000 }, async (t) => {
    const data = await newFolder(t)
    const chosen = provider === "ari" ? [] : ["--provider", provider]
    const show = () => summaryOf("--contacts", String(contacts), "--slots", String(slots), "--data", data, ...chosen)
    const first = await show()
    t.equal(first.calls.dialedTwice, 0)
    t.ok(first.slots.most <= first.slots.limit)
    const summary = isJudgeable(first) ? first : await show()
    t.strictSame(summary.problems, [], "then all contacts have the results that their numbers stand for")
    t.match(summary, { ok: true, mode: "emulator", provider, contacts: { total: contacts }, calls: { dialedTwice: 0 } })
    t.equal(summary.calls.recorded, summary.calls.seenByCallees)
    t.equal(summary.contacts.completed + summary.contacts.failed, contacts)
    t.equal(summary.retries.done, summary.retries.scheduled)
    t.ok(summary.retries.done > 0)
    t.ok(summary.slots.most <= summary.slots.limit)
    t.equal(summary.rows.length, 12)
    const { conversations } = summary
    t.strictSame(
      conversations?.rows.map(({ callee, got }) => ({ callee, got })),
      conversations?.rows.map(({ callee, expected }) => ({ callee, got: expected })),
      "then all conversations end where they must"
    )
    t.strictSame(
      conversations?.rows.map(({ callee }) => callee),
      conversationsThrough(provider).map(({ title }) => title)
    )
    const lines = conversations?.shown?.lines ?? []
    const told = lines.map(({ seconds, speaker, text }) => `${seconds} s ${speaker}: ${text}`).join("\n")
    t.match(told, /^\S+ s agent: .*\n\S+ s callee: (.*\n){7,}\S+ s agent: .*$/, "then a complete conversation is shown")
  })
}

t.test(
  "given the demo, when it is given options that it does not support, then it says so and fails",
  { timeout: longestMillis },
  async (t) => {
    const refused = (args: ReadonlyArray<string>, stderr: RegExp) => t.rejects(ask(...args), { code: 1, stderr })
    await refused(["--slots", "0"], /--slots must be a whole number from 1 to 100/)
    await refused(["--provider", "twillio"], new RegExp(`no provider "twillio".* ${providers.join(", ")}`))
    await refused(["--asterisk", "--provider", "vonage"], /--asterisk .* --provider vonage/)
  }
)
