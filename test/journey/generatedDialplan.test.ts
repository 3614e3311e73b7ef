/**
 * A real Asterisk with the files of `deploy/asterisk/generate --dialplan`: its AMD() listens to the callee before the agent does. SIPp is the
 * callee; the calls are judged by Asterisk's own records, and by the runs.
 */
import { parse } from "csv-parse/sync"
import t from "tap"
import { asteriskUnavailable, startAsterisk } from "#test/support/asterisk.ts"
import { until, untilTrue, World } from "#test/support/engine.ts"
import { recordsOf, startGenerated } from "#test/support/generatedAsterisk.ts"

t.setTimeout(1_800_000)
const skip = (await asteriskUnavailable()) ?? false

/** By the last three digits of the number, as in the table in deploy/asterisk/conf/extensions.conf. */
const [person, machine, busy, unknown] = ["+15550100510", "+15550101500", "+15550102200", "+15550103404"]
const numbers = [person, machine, busy, unknown]

t.test("given the generated dialplan, when a campaign is started", { skip, buffered: true }, async (t) => {
  const callee = await startAsterisk()
  t.teardown(() => callee.stop())
  const asterisk = await startGenerated(callee, { arguments: ["--dialplan"] })
  t.teardown(() => asterisk.stop())
  const world = await World.open(t, { account: asterisk.telephonyConfig.config, configurations: { max_call_duration: 12 } })
  const checked = await world.api.ask("POST", "/organizations/telephony-configs/1/test", {})
  t.match(checked, { status: 200, body: { passed: true } })
  t.match(JSON.stringify(checked.body), /"name":"dialplan","result":"passed"/)
  const { id } = await world.campaign(numbers, { retry: { maxRetries: 0 } })
  await world.api.start(id)
  await untilTrue("handover", async () => /Stasis.*,call,/.test(await asterisk.ctl("core show channels concise")))
  await world.api.untilState(id, "completed")
  const runs = new Map((await world.api.runs(id)).map((run) => [String(run.initial_context?.["phone_number"]), run]))

  t.match(
    runs.get(person),
    { gathered_context: { AMDSTATUS: "HUMAN", AMDCAUSE: /^HUMAN-/, dialplan: "handed_over", hangup_cause: "duration_exceeded" } },
    "then a person is handed over to the agent"
  )
  t.ok(runs.get(person)?.recording_public_url, "and the agent has the audio")
  t.match(
    runs.get(machine),
    {
      gathered_context: {
        AMDSTATUS: "MACHINE",
        dialplan: "entered",
        hangup_cause: "machine_detected",
        call_disposition: "voicemail_detected"
      }
    },
    "and a machine is hung up on by the dialplan"
  )
  t.notOk(runs.get(machine)?.recording_public_url)
  t.match(runs.get(busy), { gathered_context: { hangup_cause: "user_busy", call_disposition: "busy" } })
  t.match(runs.get(unknown), { gathered_context: { hangup_cause: "unallocated_number" } })
  t.strictSame((await callee.sippLog()).map(({ number }) => number).sort(), numbers.toSorted(), "and each phone rings once")

  const callIds = numbers.map((number) => String(runs.get(number)?.gathered_context?.["call_id"]))
  const rows = await until("records", async () => {
    const all: ReadonlyArray<ReadonlyArray<string>> = parse((await recordsOf(asterisk, "cdr-csv/Master.csv")).join("\n"))
    return callIds.every((callId) => all.some((row) => row.at(-1) === callId)) ? all : undefined
  })
  const places = callIds.map((callId) => rows.filter((row) => row.at(-1) === callId).map((row) => [row[2], row[3]]))
  t.strictSame(
    places.slice(0, 2),
    [person, machine].map((number) => [[number, "trunkline-answered"]]),
    "and the records of those who answered have the place in the dialplan as dst and dcontext"
  )
})
