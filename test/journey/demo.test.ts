/** The demo as a newcomer runs it, with fewer contacts and through each provider: it ends by itself, and every call as it had to. */
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

// Most of the time is waiting for calls and retries, but a demo begins with its busiest seconds: a database, an engine, and all calls at once.
t.jobs = 2

const run = promisify(execFile)
const demo = fileURLToPath(new URL("../demo/demo.ts", import.meta.url))
/** Holds the answers that the demo gets against the API's document. */
const documented = ["--import", fileURLToPath(new URL("../support/documentedFetch.ts", import.meta.url))]
/** Its callees live in its own process. */
const first = ["--import", fileURLToPath(new URL("../support/priority.ts", import.meta.url))]
/** As in `support/runAll.ts`, or each would strip and compile its three hundred sources again. */
const stripped = ["--import", fileURLToPath(new URL("../support/stripped.js", import.meta.url))]
const cache = process.env["NODE_COMPILE_CACHE"]
const compiled = cache === undefined ? [] : [`NODE_COMPILE_CACHE=${cache}`]
/** It takes about a minute, unless the machine is busy with other work. */
const longestMillis = 1_200_000

/** Without tap's own environment, which has every Node it sees report its coverage. */
const environment = ["-i", `PATH=${process.env["PATH"]}`, `HOME=${tmpdir()}`, ...compiled]

const ask = (...args: ReadonlyArray<string>) =>
  run("env", [...environment, process.execPath, ...stripped, ...documented, ...first, demo, ...args], { timeout: longestMillis })

/** What it tells as JSON. A demo that finds something wrong says so there, and fails. */
const summaryOf = async (...args: ReadonlyArray<string>): Promise<Summary> => {
  const { stdout } = await ask("--json", ...args).catch((error: { readonly stdout?: string }) => {
    if (!error.stdout) throw error
    return { stdout: error.stdout }
  })
  // Of the demo's own making.
  return JSON.parse(stdout) as Summary
}

const newFolder = async (t: Test): Promise<string> => {
  const folder = await mkdtemp(join(tmpdir(), "trunkline-demo-"))
  // Postgres, which does not run as root, has to pass.
  await chmod(folder, 0o711)
  t.teardown(() => rm(folder, { recursive: true, force: true }))
  return join(folder, "data")
}

/** Fewer at once than the demo's own, so that a machine without priorities has time for those who have answered. */
const slots = 10

/** A callee of each kind, and of the one that needs no option as many as show them side by side. */
const contactsOf = (provider: string) => (provider === "ari" ? 40 : 12)

for (const provider of providers) {
  t.test(`given nothing but the project, and ${provider}`, { buffered: true, timeout: longestMillis + 60_000 }, async (t) => {
    const data = await newFolder(t)
    const contacts = contactsOf(provider)
    const chosen = provider === "ari" ? [] : ["--provider", provider]
    const summary = await summaryOf("--contacts", String(contacts), "--slots", String(slots), "--data", data, ...chosen)
    t.strictSame(summary.problems, [], "then all contacts come to what their numbers stand for")
    t.match(summary, { ok: true, mode: "emulator", provider, contacts: { total: contacts }, calls: { dialedTwice: 0 } })
    t.equal(summary.calls.recorded, summary.calls.seenByCallees)
    t.equal(summary.contacts.completed + summary.contacts.failed, contacts)
    t.equal(summary.retries.done, summary.retries.scheduled)
    t.ok(summary.retries.done > 0)
    t.ok(summary.slots.most <= summary.slots.limit)
    t.equal(summary.rows.length, 12)
    const { conversations } = summary
    t.strictSame(
      conversations?.rows.map(({ callee, isAsExpected }) => ({ callee, isAsExpected })),
      conversationsThrough(provider).map(({ title }) => ({ callee: title, isAsExpected: true })),
      "then all conversations end where they have to"
    )
    const speakers = conversations?.shown?.lines.map(({ speaker }) => speaker) ?? []
    t.ok(speakers.length >= 9, "then a whole one is shown")
    t.strictSame([speakers[0], speakers[1], speakers.at(-1)], ["agent", "callee", "agent"])
  })
}

t.test("given the demo, when it is asked for what it cannot do, then it says so and fails", { timeout: longestMillis }, async (t) => {
  const refused = (args: ReadonlyArray<string>, stderr: RegExp) => t.rejects(ask(...args), { code: 1, stderr })
  await refused(["--slots", "0"], /--slots must be a whole number from 1 to 100/)
  await refused(["--provider", "twillio"], new RegExp(`no provider "twillio".* ${providers.join(", ")}`))
  await refused(["--asterisk", "--provider", "vonage"], /--asterisk .* --provider vonage/)
})
