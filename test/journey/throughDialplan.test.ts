/**
 * Answered calls that run through Asterisk's dialplan before the agent gets them, whoever ends them and whatever is lost in the meantime.
 * Judged by the callees and by the runs.
 */
import t from "tap"
import { type Contexts, handOver } from "#test/emulators/ari/Dialplan.ts"
import { fates, HttpProxy } from "#test/support/HttpProxy.ts"
import { type Run, untilTrue, World } from "#test/support/engine.ts"

t.setTimeout(1_800_000)

const amd = (status: string, cause: string, waitMillis = 200) => [
  { wait: waitMillis },
  { set: "AMDSTATUS", to: status },
  { set: "AMDCAUSE", to: cause }
]
const contexts: Contexts = {
  human: [...amd("HUMAN", "HUMAN-850-800"), handOver],
  machine: [...amd("MACHINE", "LONGGREETING-1500-1500"), { wait: 100 }, { hangup: 16 }],
  "machine-kept": [...amd("MACHINE", "LONGGREETING-1500-1500"), handOver],
  refuses: [{ wait: 100 }, { hangup: 21 }],
  // Asks again until somebody is there.
  slow: [{ wait: 1500 }, ...Array.from({ length: 600 }, () => [handOver, { wait: 1000 }]).flat(), { hangup: 41 }],
  endless: [{ wait: 600_000 }]
}

const world = await World.open(t, {
  // A callee who answers stays until they have been spoken to, however slow the machine.
  emulator: { ringMillis: 300, talkMillis: 2500, talkOnceHeard: true, dialplan: contexts },
  environment: { CALL_RATE: "50" }
})
const { emulator } = world
const proxy = await HttpProxy.start(emulator.url)
t.teardown(() => proxy.stop())

const [answers, busy, silent] = ["+15550100001", "+15550100002", "+15550100003"]
/** A callee who does not hang up. */
const stays = "+15550100011"

/** Starts a campaign whose answered calls run through this context. */
const started = async (context: string, numbers: ReadonlyArray<string>, url = emulator.url): Promise<number> => {
  const config = { provider: "ari", ari_endpoint: url, app_name: emulator.user, app_password: emulator.password, context }
  t.match(await world.api.ask("PUT", "/organizations/telephony-configs/1", { config }), { status: 200 })
  const { id } = await world.campaign(numbers, { retry: { maxRetries: 0 } })
  await world.api.start(id)
  return id
}
const ended = async (id: number): Promise<ReadonlyMap<string, Run>> => {
  await world.api.untilState(id, "completed")
  return new Map((await world.api.runs(id)).map((run) => [String(run.initial_context?.["phone_number"]), run]))
}
const called = async (context: string, numbers: ReadonlyArray<string>) => ended(await started(context, numbers))
/** What has happened at the far end since: how many callees were sent audio, and how many calls were requested. */
const watch = () => {
  const [spoken, requested] = [emulator.log.firstSpoken().length, emulator.requests.length]
  return () => ({ spokenTo: emulator.log.firstSpoken().length - spoken, requests: emulator.requests.length - requested })
}
const answeredSince = (count: number) => untilTrue("an answer", () => emulator.log.count("answered") > count)

t.test("given a dialplan that hands people over", async (t) => {
  const since = watch()
  const runs = await called("human", [answers, busy, silent])
  t.match(
    runs.get(answers),
    {
      gathered_context: {
        AMDSTATUS: "HUMAN",
        AMDCAUSE: "HUMAN-850-800",
        dialplan: "handed_over",
        call_disposition: "user_hangup",
        hangup_cause: "normal_clearing"
      }
    },
    "then the run says what it found"
  )
  t.match(runs.get(busy), { gathered_context: { hangup_cause: "user_busy", call_disposition: "busy" } }, "and who is busy is busy")
  t.match(runs.get(silent), { gathered_context: { hangup_cause: "ring_timeout", call_disposition: "no-answer" } })
  t.notOk(runs.get(busy)?.gathered_context?.["dialplan"], "and only who answers comes to the dialplan")
  t.equal(since().spokenTo, 1, "and who is handed over is spoken to")
  // On a busy machine, the first word may come so late that the log is right to say so.
  const [[, spokenAt] = ["", 0]] = emulator.log.firstSpoken()
  const answeredAt = emulator.log.entries.find(({ kind }) => kind === "answered")?.at ?? 0
  const isMissed = JSON.stringify(runs.get(answers)).includes("greeting_missed")
  t.notOk(isMissed && spokenAt - answeredAt < 2000, `and is not said to have waited: ${Math.round(spokenAt - answeredAt)} ms`)
})

t.test("given a dialplan that hangs up on machines, and others", async (t) => {
  const since = watch()
  const machine = (await called("machine", [answers])).get(answers)
  t.match(machine, { gathered_context: { AMDSTATUS: "MACHINE", dialplan: "entered", call_disposition: "voicemail_detected" } })
  t.equal(since().spokenTo, 0, "then the agent says nothing")
  t.notOk(JSON.stringify(machine).includes("greeting_missed"), "and nothing is missed")
  for (const [what, context, gathered_context] of [
    [
      "hands machines over, to which the agent's own setting applies",
      "machine-kept",
      { AMDSTATUS: "MACHINE", dialplan: "handed_over", call_disposition: "voicemail_detected", hangup_cause: "machine_detected" }
    ],
    [
      "ends calls for another reason, which still count as answered",
      "refuses",
      { dialplan: "entered", hangup_cause: "call_rejected", call_disposition: "user_hangup" }
    ]
  ] as const) {
    const run = (await called(context, [answers])).get(answers)
    t.match(run, { gathered_context, is_completed: true }, `given one that ${what}`)
  }
})

t.test("given a context that does not exist, then one callee is hung up on, and no other is called", async (t) => {
  const since = watch()
  const numbers = Array.from({ length: 30 }, (_, at) => `+155501${String(at).padStart(3, "0")}01`)
  const id = await started("nowhere", numbers)
  const { logs } = await world.api.untilState(id, "paused")
  t.match(logs.at(-1), { details: { detail: /^the dialplan has no nowhere,\{number\},1 for answered calls/ } })
  await untilTrue("end of the calls", () => emulator.live() === 0)
  t.ok(since().requests < numbers.length, `${since().requests} were called`)
  for (const run of await world.api.runs(id)) {
    if (run.is_completed) t.match(run, { gathered_context: { hangup_cause: "media_failure", call_disposition: "error" } })
  }
})

t.test("given events that are lost while a call is in the dialplan, then it is handed over when they are back", async (t) => {
  const [since, earlier] = [watch(), emulator.log.count("answered")]
  const id = await started("slow", [answers])
  await answeredSince(earlier)
  emulator.dropSockets()
  const run = (await ended(id)).get(answers)
  t.match(run, { gathered_context: { dialplan: "handed_over", call_disposition: "user_hangup" } })
  t.strictSame(since(), { spokenTo: 1, requests: 1 })
})

/** A callee answers while Asterisk accepts no requests, until that many have failed; its events still arrive. */
const unreachableAtAnswer = async (number: string, tries: number) => {
  const [ringing, earlier] = [emulator.log.count("ringing"), emulator.log.count("answered")]
  const inVain = () => world.output().split("could not be sent into the dialplan yet").length
  const before = inVain()
  emulator.letRing(true)
  const id = await started("human", [number])
  await untilTrue("a phone that rings", () => emulator.log.count("ringing") > ringing)
  await emulator.refuseConnections(true)
  emulator.letRing(false)
  await answeredSince(earlier)
  await untilTrue("requests in vain", () => inVain() - before >= tries)
  await emulator.refuseConnections(false)
  return (await ended(id)).get(number)
}

t.test("given an Asterisk that accepts no requests when a callee answers", async (t) => {
  const sentOn = { gathered_context: { dialplan: "handed_over", call_disposition: "user_hangup" } }
  t.match(await unreachableAtAnswer(answers, 1), sentOn, "then the callee is sent on as soon as it does")
  const hungUp = { gathered_context: { hangup_cause: "media_failure", call_disposition: "error" } }
  t.match(await unreachableAtAnswer(stays, 3), hungUp, "or is hung up on, if it took longer")
  t.equal(emulator.live(), 0)
})

t.test("given an engine that dies while a call is in the dialplan, then the next one ends that call, which counts once", async (t) => {
  const since = watch()
  const id = await started("endless", [stays])
  await untilTrue("record of the answer", async () => {
    const [row] = await world.sql<Array<{ state: string }>>`SELECT state FROM attempts WHERE campaign_id = ${id}`
    return row?.state === "answered"
  })
  await world.end("SIGKILL")
  await world.launch()
  const run = (await ended(id)).get(stays)
  t.match(run, { gathered_context: { hangup_cause: "node_lost", call_disposition: "error" } })
  t.equal(emulator.live(), 0, "then the callee is hung up on")
  t.equal(since().requests, 1)
})

t.test("given a reply that is lost, and a call that Asterisk does not know, when the dialplan hands it over", async (t) => {
  const since = watch()
  const isSending = (path: string) => path.includes("/continue?")
  let sent = 0
  proxy.fateOf = ({ method, path }) => {
    if (isSending(path)) return sent++ === 0 ? fates.resetAfterForwarding : fates.pass
    return method === "GET" && sent > 0 && path.startsWith("/ari/channels") && !path.includes("/variable") ? fates.error(503) : fates.pass
  }
  const run = (await ended(await started("human", [answers], proxy.url))).get(answers)
  t.equal(proxy.exchanges.filter(({ path }) => isSending(path)).length, 1, "then it is not sent into the dialplan again")
  t.match(run, { gathered_context: { dialplan: "handed_over", call_disposition: "user_hangup" } }, "and stays the agent's")
  t.strictSame(since(), { spokenTo: 1, requests: 1 })
})
