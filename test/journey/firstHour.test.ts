/**
 * The first hour of deploy/README.md, literally: the commands are taken from the page itself and run in a real shell, next to the engine as
 * `npm start` starts it. SIPp's log of the callees shows the result.
 */
import { spawn } from "node:child_process"
import { readFile, rm } from "node:fs/promises"
import { join } from "node:path"
import { parse } from "csv-parse/sync"
import t from "tap"
import { asteriskUnavailable, calleeLog } from "#test/support/asterisk.ts"
import { temporaryFolder } from "#test/support/dataFolder.ts"
import { runScript } from "#test/support/fromDebian.ts"
import { npmStart, root } from "#test/support/npmStart.ts"

t.setTimeout(1_800_000)
const skip = (await asteriskUnavailable()) ?? false

/** The section between its title and the next one, with the commands that it gives. */
const page = await readFile(join(root, "deploy/README.md"), "utf8")
const section = /^## The first hour$(.*?)^## /ms.exec(page)?.[1] ?? ""
const commands = [...section.matchAll(/^```sh\n(.*?)^```$/gms)].map(([, text]) => text).join("\n")

const bytesPerSecond = 32_000
const wavHeader = 44

t.test("given the commands of the first hour in deploy/README.md", { skip }, async (t) => {
  const folder = temporaryFolder(t)
  const lab = join(folder, "lab")
  const environment = { ASTERISK_RUN: lab }
  t.teardown(() => runScript(join(root, "deploy/asterisk/stop"), [], environment, 120_000))
  const stopper = spawn(join(root, "deploy/asterisk/stop"), ["--at-end-of-input"], {
    env: { ...process.env, ...environment },
    stdio: ["pipe", "ignore", "ignore"],
    detached: true
  })
  t.teardown(() => stopper.stdin.end())

  const engine = await npmStart(t)
  const key = /tlk_\S+/.exec(engine.output())?.[0] ?? ""
  const [address, placeholder] = ["API=http://127.0.0.1:8000/api/v1 ", "KEY=tlk_... "]
  t.equal(commands.split(address).length, 2, "then the address occurs once")
  t.equal(commands.split(placeholder).length, 2, "and once where the key goes")
  const typed = commands.replace(address, `API=${engine.url}/api/v1 `).replace(placeholder, `KEY=${key} `)

  const script = `set -euo pipefail\n${typed}\npwd\n`
  const { status, stderr, stdout } = await runScript("bash", ["-c", `cd "$0" && ${script}`, root], environment, 500_000)
  t.equal(status, 0, "then a shell runs them to their end")
  t.equal(stderr, "", "without a complaint")
  const made = stdout.trim().split("\n").at(-1) ?? ""
  t.teardown(() => rm(made, { recursive: true, force: true }))
  const read = (name: string) => readFile(join(made, name))

  const called = (await calleeLog(lab, "invite")).map(({ number }) => number)
  t.strictSame(called[0], "+15550100600", "and the single call rings first")
  t.strictSame(called.slice(1).sort(), ["+15550101600", "+15550102600", "+15550103105"], "and then each contact, once")

  const run = JSON.parse(String(await read("run.json")))
  t.match(run.gathered_context, { dtmf_digits: "1234#", hangup_cause: "normal_clearing" }, "and the run says what was typed")
  t.match(String(await read("agent.json")), /"workflow_uuid"/)

  const wav = await read("call.wav")
  const recorded = wav.length - wavHeader
  t.equal(wav.readUInt32LE(28), bytesPerSecond)
  t.match(section, `A minute of recording takes ${((60 * bytesPerSecond) / 1e6).toFixed(1)} MB`)
  const talked = run.usage_info.call_duration_seconds
  // The recording starts when the audio is connected, and ends with the call.
  t.ok(recorded > 0 && recorded <= (talked + 0.5) * bytesPerSecond, `and ${talked} s of a call make ${recorded} bytes of recording`)

  const report = parse(String(await read("report.csv")), { bom: true, columns: true }) as ReadonlyArray<Readonly<Record<string, string>>>
  const rows = report.map((row) => [row["Phone Number"], row["Outcome"], row["Final"]]).sort()
  t.strictSame(
    rows,
    [
      ["+15550101600", "answered", "yes"],
      ["+15550102600", "answered", "yes"],
      ["+15550103105", "answered", "yes"]
    ],
    "and the report says what came of each"
  )
})
