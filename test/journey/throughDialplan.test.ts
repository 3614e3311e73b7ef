/**
 * Answered calls that run through Asterisk's dialplan before the agent gets them, whoever ends them and whatever is lost in the meantime.
 * Judged by the callees and by the runs.
 */
import t, { type Test } from "tap"
import { type Contexts, handOver } from "#test/emulators/ari/Dialplan.ts"
import { fates, HttpProxy } from "#test/support/HttpProxy.ts"
import { type Run, untilTrue, World, type WorldOptions } from "#test/support/engine.ts"

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

/** Lets answered calls run through this context from now on. */
const dialInto = async (t: Test, { api, emulator }: World, context: string, url = emulator.url) => {
  const config = { provider: "ari", ari_endpoint: url, app_name: emulator.user, app_password: emulator.password, context }
  t.match(await api.ask("PUT", "/organizations/telephony-configs/1", { config }), { status: 200 })
}

/** `way` turns the address of Asterisk into the one that the engine is given. */
const given = async (t: Test, context: string, options: WorldOptions = {}, way = async (url: string) => url) => {
  const world = await World.open(t, {
    ...options,
    // A callee who answers stays until they have been spoken to, however slow the machine.
    emulator: { ringMillis: 300, talkMillis: 2500, talkOnceHeard: true, dialplan: contexts, ...options.emulator }
  })
  await dialInto(t, world, context, await way(world.emulator.url))
  return world
}

const started = async (world: World, numbers: ReadonlyArray<string>): Promise<number> => {
  const { id } = await world.campaign(numbers, { retry: { maxRetries: 0 } })
  await world.api.start(id)
  return id
}
const ended = async ({ api }: World, id: number): Promise<ReadonlyMap<string, Run>> => {
  await api.untilState(id, "completed")
  return new Map((await api.runs(id)).map((run) => [String(run.initial_context?.["phone_number"]), run]))
}
const called = async (world: World, numbers: ReadonlyArray<string>) => ended(world, await started(world, numbers))
const [answers, busy, silent] = ["+15550100001", "+15550100002", "+15550100003"]
/** How many frames of audio the callee of the only answered call was sent. */
const spokenTo = (world: World): number => world.emulator.log.firstSpoken().length

t.test("given a dialplan that hands people over", async (t) => {
  const world = await given(t, "human")
  const runs = await called(world, [answers, busy, silent])
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
  t.equal(spokenTo(world), 1, "and who is handed over is spoken to")
  // On a busy machine, the first word may come so late that the log is right to say so.
  const [[, spokenAt] = ["", 0]] = world.emulator.log.firstSpoken()
  const answeredAt = world.emulator.log.entries.find(({ kind }) => kind === "answered")?.at ?? 0
  const isMissed = JSON.stringify(runs.get(answers)).includes("greeting_missed")
  t.notOk(isMissed && spokenAt - answeredAt < 2000, `and is not said to have waited: ${Math.round(spokenAt - answeredAt)} ms`)
})

const others: ReadonlyArray<readonly [what: string, context: string, gathered: object]> = [
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
]
t.test("given a dialplan that hangs up on machines, and others", async (t) => {
  const world = await given(t, "machine")
  const machine = (await called(world, [answers])).get(answers)
  t.match(machine, { gathered_context: { AMDSTATUS: "MACHINE", dialplan: "entered", call_disposition: "voicemail_detected" } })
  t.equal(spokenTo(world), 0, "then the agent says nothing")
  t.notOk(JSON.stringify(machine).includes("greeting_missed"), "and nothing is missed")
  for (const [what, context, gathered_context] of others) {
    await dialInto(t, world, context)
    const run = (await called(world, [answers])).get(answers)
    t.match(run, { gathered_context, is_completed: true }, `given one that ${what}`)
  }
})

t.test("given a context that does not exist, then one callee is hung up on, and no other is called", async (t) => {
  const world = await given(t, "nowhere", { environment: { CALL_RATE: "50" } })
  const numbers = Array.from({ length: 30 }, (_, at) => `+155501${String(at).padStart(3, "0")}01`)
  const id = await started(world, numbers)
  const { logs } = await world.api.untilState(id, "paused")
  t.match(logs.at(-1), { details: { detail: /^the dialplan has no nowhere,\{number\},1 for answered calls/ } })
  await untilTrue("end of the calls", () => world.emulator.live() === 0)
  t.ok(world.emulator.requests.length < numbers.length, `${world.emulator.requests.length} were called`)
  for (const run of await world.api.runs(id)) {
    if (run.is_completed) t.match(run, { gathered_context: { hangup_cause: "media_failure", call_disposition: "error" } })
  }
})

t.test("given events that are lost while a call is in the dialplan, then it is handed over when they are back", async (t) => {
  const world = await given(t, "slow")
  const id = await started(world, [answers])
  await world.seen("answered", 1)
  world.emulator.dropSockets()
  const run = (await ended(world, id)).get(answers)
  t.match(run, { gathered_context: { dialplan: "handed_over", call_disposition: "user_hangup" } })
  t.equal(spokenTo(world), 1)
  t.equal(world.emulator.requests.length, 1)
})

/** A callee answers while Asterisk accepts no requests, until that many have failed; its events still arrive. */
const unreachableAtAnswer = async (world: World, tries: number) => {
  world.emulator.letRing(true)
  const id = await started(world, [answers])
  await world.seen("ringing", 1)
  await world.emulator.refuseConnections(true)
  world.emulator.letRing(false)
  await world.seen("answered", 1)
  await untilTrue("requests in vain", () => world.output().split("could not be sent into the dialplan yet").length > tries)
  await world.emulator.refuseConnections(false)
  return (await ended(world, id)).get(answers)
}

t.test("given an Asterisk that accepts no requests when a callee answers, then the callee is sent on as soon as it does", async (t) => {
  const world = await given(t, "human")
  t.match(await unreachableAtAnswer(world, 1), { gathered_context: { dialplan: "handed_over", call_disposition: "user_hangup" } })
})

t.test("given one that accepts none for longer, then the callee is hung up on as soon as it does", async (t) => {
  const world = await given(t, "human", { emulator: { talkMillis: 600_000 } })
  t.match(await unreachableAtAnswer(world, 3), { gathered_context: { hangup_cause: "media_failure", call_disposition: "error" } })
  t.equal(world.emulator.live(), 0)
})

t.test(
  "given a reply that is lost, and an Asterisk that cannot say what became of the call, when the dialplan hands it over",
  async (t) => {
    const proxies: Array<HttpProxy> = []
    t.teardown(() => Promise.all(proxies.map((proxy) => proxy.stop())))
    const world = await given(t, "human", {}, async (url) => {
      const proxy = await HttpProxy.start(url)
      proxies.push(proxy)
      return proxy.url
    })
    const [proxy] = proxies
    if (proxy === undefined) throw new Error("nobody stands in for Asterisk")
    const isSending = (path: string) => path.includes("/continue?")
    let sent = 0
    proxy.fateOf = ({ method, path }) => {
      if (isSending(path)) return sent++ === 0 ? fates.resetAfterForwarding : fates.pass
      return method === "GET" && sent > 0 && path.startsWith("/ari/channels") && !path.includes("/variable") ? fates.error(503) : fates.pass
    }
    const run = (await called(world, [answers])).get(answers)
    t.equal(proxy.exchanges.filter(({ path }) => isSending(path)).length, 1, "then it is not sent into the dialplan again")
    t.match(run, { gathered_context: { dialplan: "handed_over", call_disposition: "user_hangup" } }, "and stays the agent's")
    t.equal(spokenTo(world), 1)
    t.equal(world.emulator.requests.length, 1)
  }
)

t.test("given an engine that dies while a call is in the dialplan, then the next one ends that call, which counts once", async (t) => {
  const world = await given(t, "endless", { emulator: { talkMillis: 600_000 } })
  const id = await started(world, [answers])
  await world.seen("answered", 1)
  await untilTrue("record of the answer", async () => {
    const [row] = await world.sql<Array<{ state: string }>>`SELECT state FROM attempts WHERE campaign_id = ${id}`
    return row?.state === "answered"
  })
  await world.end("SIGKILL")
  await world.launch()
  const run = (await ended(world, id)).get(answers)
  t.match(run, { gathered_context: { hangup_cause: "node_lost", call_disposition: "error" } })
  t.equal(world.emulator.live(), 0, "then the callee is hung up on")
  t.equal(world.emulator.requests.length, 1)
})
