/**
 * The engine as a separate process, for tests that kill it: exactly `runtime/main.ts`, except that it kills itself with SIGKILL when the dial
 * protocol passes the point CRASH_AT for the CRASH_AFTER-th time, and when its standard input closes, which happens however the test ends.
 * CLOCK_AHEAD sets its wall clock forward by that many milliseconds before the start. A line `step <millis>` on its input sets its wall clock
 * forward or back. The engine takes the database for one on its own machine, whose clock is set with it; CLOCK_WRONG sets only its own. Lines
 * `disk full` and `disk free` simulate the state of the disk that holds its journal; `turn <number>` is answered with
 * `turned <number>`; with PACED=on, `forward <millis>` lets that time pass in a tenth of it, and is answered with `forwarded <millis>`. MEMORY is how many
 * milliseconds it remembers calls that the database has.
 */
import { createInterface } from "node:readline"
import { Layer } from "effect"
import { type DialPoint, PassDialPoint } from "#runtime/call/DialPoint.ts"
import { JournalAppend, Memory } from "#runtime/journal/LocalJournal.ts"
import { append, type Append } from "#runtime/journal/Segments.ts"
import { DatabaseTime, EngineClock } from "#runtime/lock/EngineClock.ts"
import { launch } from "#runtime/main.ts"
import { followPace, forward, step, wallAhead } from "./clocks.ts"

if (process.env["PACED"] === "on") followPace()
const wrongMillis = Number(process.env["CLOCK_WRONG"] ?? 0)
step(Number(process.env["CLOCK_AHEAD"] ?? 0) + wrongMillis)
const clock = new EngineClock()
const time: DatabaseTime = {
  isTold: (askedAt, millis) => clock.isTold(askedAt, millis + wallAhead() - wrongMillis),
  machineAhead: clock.machineAhead
}
const point = process.env["CRASH_AT"]
let left = Number(process.env["CRASH_AFTER"] ?? 1)
const pass = (passed: DialPoint) => {
  if (passed === point && --left === 0) process.kill(process.pid, "SIGKILL")
}
let isDiskFull = false
const write: Append = (fd, text) => {
  if (isDiskFull) throw Object.assign(new Error("no space"), { code: "ENOSPC" })
  append(fd, text)
}
process.stdin.on("close", () => process.kill(process.pid, "SIGKILL")).unref()
createInterface(process.stdin).on("line", (line) => {
  const [word, value] = line.split(" ")
  if (word === "step") step(Number(value))
  if (word === "disk") isDiskFull = value === "full"
  if (word === "forward") forward(Number(value), () => process.stdout.write(`forwarded ${value}\n`))
  if (word === "turn") process.stdout.write(`turned ${value}\n`)
})
const memory = process.env["MEMORY"]
const remembering = memory === undefined ? Layer.empty : Layer.succeed(Memory, { millis: Number(memory), tidyEvery: "100 millis" })
const extra = Layer.mergeAll(
  Layer.succeed(PassDialPoint, pass),
  Layer.succeed(JournalAppend, write),
  Layer.succeed(DatabaseTime, time),
  remembering
)
export const start = (onReady: () => void) => launch({ clock, extra, onReady })
