/**
 * Whole conversations: an engine with only built-in services and PocketSphinx, and callees who really speak, and answer what they hear. What
 * the callees heard, and when, is judged on their side.
 */
import { globSync, readFileSync } from "node:fs"
import t from "tap"
import { agentTemplates } from "#core/agent/templates/AgentTemplate.ts"
import type { JsonObject } from "#core/Json.ts"
import { makeTalker, type Move, type Talker } from "#test/emulators/shared/Talker.ts"
import { numbersOf, type Run, until, untilTrue, World } from "#test/support/engine.ts"
import { parse } from "#test/support/prometheus.ts"
import { pocketsphinxRoot, pocketsphinxUnavailable } from "#test/support/pocketsphinx.ts"
import { untilTrunkUp } from "#test/support/trunkUp.ts"
import { makeMouth } from "#test/support/utterances.ts"

const skip = (await pocketsphinxUnavailable()) ?? false
// They mostly listen to each other. Each has an engine and a recognizer of its own.
t.jobs = 3
const speak = makeMouth()
const context = { first_name: "Ada", company: "Acme", appointment_date: "Monday", appointment_time: "ten o'clock" }

/** The callee's answers to lines of the agent. */
type Answers = ReadonlyArray<readonly [line: RegExp, answer: string]>
/** Stands for a hangup instead of an answer. */
const hangsUp = "hangs up"
const mostTurns = 20

/**
 * The moves of a callee who answers the agent's latest question, however long it takes, and answers again if the agent did not understand.
 * `lines` returns what the callee has heard from the agent so far; `begins` is called when they start to answer.
 */
const answering = (answers: Answers, lines: () => ReadonlyArray<string>, begins: () => void): ReadonlyArray<Move> => {
  let answered = 0
  const answer = () => {
    const asked = lines().toReversed()
    return asked.flatMap((line) => answers.filter(([question]) => question.test(line)))[0]?.[1]
  }
  return Array.from({ length: mostTurns }, () => ({
    get cue() {
      return lines().length > answered && answer() !== undefined ? { afterAgent: 700 } : { after: Number.POSITIVE_INFINITY }
    },
    get hangsUp() {
      return answer() === hangsUp ? true : undefined
    },
    get says() {
      answered = lines().length
      const text = answer()
      if (text === undefined || text === hangsUp) return undefined
      begins()
      return speak(text, { voice: "rms" })
    }
  }))
}

const open = async (t: Parameters<typeof World.open>[0], callees: ReadonlyMap<string, Answers>, begins: () => void = () => {}) => {
  const world = await World.open(t, {
    emulator: { ringMillis: 200, talkMillis: 600_000 },
    environment: { POCKETSPHINX_DIR: pocketsphinxRoot }
  })
  const { api, emulator, sql } = world
  emulator.letTalk(true)
  const linesTo = new Map<string, ReadonlyArray<string>>()
  let isOver = false
  const listen = async () => {
    const rows = await sql<Array<{ lines: Array<string>; phone_number: string }>>`
      SELECT a.phone_number, array_agg(e.content -> 'payload' ->> 'text' ORDER BY e.ordinal) AS lines
      FROM conversation_entries e JOIN attempts a ON a.id = e.call_id
      WHERE e.content ->> 'type' = 'rtf-bot-text' GROUP BY a.phone_number`
    for (const { lines, phone_number } of rows) linesTo.set(phone_number, lines)
    return isOver || undefined
  }
  const listening = until("end of the test", listen)
  t.teardown(() => {
    isOver = true
    return listening
  })
  const talkers = new Map<string, Talker>()
  emulator.log.talkerFor = (channelId) => {
    const number = emulator.log.of(channelId)[0]?.number ?? ""
    const answers = callees.get(number)
    if (answers === undefined) return undefined
    const hands = {
      press: (digits: string) => {
        for (const digit of digits) emulator.press(number, digit)
      },
      hangUp: () => emulator.hangUp(number)
    }
    const talker = makeTalker(
      answering(answers, () => linesTo.get(number) ?? [], begins),
      hands
    )
    talkers.set(number, talker)
    return talker
  }
  const definition = agentTemplates.find(({ name }) => name === "Appointment reminder")?.definition
  const { body } = await api.ask("POST", "/workflow/create/definition", { name: "Reminder", workflow_definition: definition })
  const agent = body as { readonly id: number; readonly workflow_uuid: string }
  // On a busy machine, a recognizer may need longer for an answer than a callee may normally be silent.
  await api.ask("PUT", `/workflow/${agent.id}`, { workflow_configurations: { max_user_idle_timeout: 60 } })
  const call = async (number: string) => {
    const asked = { phone_number: number, initial_context: context }
    const { body } = await api.ask("POST", `/public/agent/workflow/${agent.workflow_uuid}`, asked)
    return (body as { readonly workflow_run_id: number }).workflow_run_id
  }
  const runOf = async (id: number) => (await world.api.ask("GET", `/workflow/${agent.id}/runs/${id}`)).body as Run
  const ended = (id: number) =>
    until("end of the run", async () => {
      const run = await runOf(id)
      return run.is_completed ? run : undefined
    })
  return { call, ended, talkers, world }
}
const gatheredOf = ({ gathered_context: gathered }: Run): JsonObject => gathered ?? {}
const counted = { count: Number, p50: Number, p95: Number }
const waitedFor = {
  conversation: {
    latency_seconds: { recognition: counted, end_of_turn: counted, first_token: counted, synthesis: counted, first_audio: counted }
  }
}
const servicesIn = ({ usage_info: usage }: Run) => [usage?.tts, usage?.stt].flatMap((used) => Object.keys(used ?? {}))
const saidIn = ({ logs }: Run): ReadonlyArray<string> => {
  const { realtime_feedback_events: events = [] } = (logs ?? {}) as {
    readonly realtime_feedback_events?: ReadonlyArray<{ readonly payload: JsonObject }>
  }
  return events.flatMap(({ payload: { text } }) => (typeof text === "string" ? [text] : []))
}

t.test(
  "given callees who speak, when an agent with a recognizer reminds them, then each conversation ends where it should",
  { skip, buffered: true },
  async (t) => {
    const numbers = numbersOf(4, ["11"])
    const identity = /speaking with/
    const appointment = /still suit/
    const stories = [
      {
        answers: [
          [appointment, "yes please"],
          [identity, "yes speaking"]
        ],
        disposition: "user_qualified",
        at: "Confirmed"
      },
      {
        answers: [
          [appointment, "cancel the appointment"],
          [identity, "yes this is she"],
          [/confirm: Cancel/, "yes"],
          [/Is that right/, "no"]
        ],
        disposition: "user_qualified",
        at: "Cancelled"
      },
      { answers: [[identity, "no wrong number"]], disposition: "user_qualified", at: "Somebody else" },
      {
        answers: [
          [appointment, hangsUp],
          [identity, "yes speaking"]
        ],
        disposition: "user_hangup",
        at: "Remind"
      }
    ] satisfies ReadonlyArray<{ readonly answers: Answers; readonly disposition: string; readonly at: string }>
    const { call, ended, talkers, world } = await open(t, new Map(numbers.map((number, at) => [number, stories[at]?.answers ?? []])))
    // One after another, so that a busy machine has to recognize the speech of only one call.
    for (const [at, number] of numbers.entries()) {
      const { at: last = "", disposition } = stories[at] ?? {}
      const run = await ended(await call(number))
      const talker = talkers.get(number)
      const told = { callee: talker?.turns, agent: talker?.agent, transcript: saidIn(run) }
      t.match(gatheredOf(run), { call_disposition: disposition, nodes_visited: new RegExp(`${last}$`) }, last, told)
      const turns = talker?.turns ?? []
      t.ok(turns.length > 0 && turns.slice(0, -1).every(({ agentFrom }) => agentFrom !== undefined), "then the agent answered each turn")
      t.ok(saidIn(run).length >= 2, "then the transcript has both sides")
      t.match(run, { annotations: waitedFor }, "then the run has the times that they waited")
      t.match(servicesIn(run), [/^flite#/, /^pocketsphinx#/], "and what was used for it")
    }
    t.equal(world.emulator.log.count("originate"), numbers.length)
    const { values } = parse(await (await fetch(`${world.engine.url}/metrics`)).text())
    for (const stage of Object.keys(waitedFor.conversation.latency_seconds))
      t.ok((values.get(`conversation_latency_seconds_count{stage="${stage}"}`) ?? 0) > 0, `then the metrics have ${stage}`)
  }
)

t.test(
  "given a conversation, when the engine is killed during it, then its run has everything up to the kill",
  { skip, buffered: true },
  async (t) => {
    const [number = ""] = numbersOf(1, ["11"])
    const { call, ended, world } = await open(t, new Map([[number, [[/speaking with/, "yes speaking"]]]]))
    const id = await call(number)
    await untilTrue("the second node", async () => {
      const rows = await world.sql`SELECT 1 FROM conversation_entries WHERE content -> 'nodes_visited' ? 'Remind'`
      return rows.length > 0
    })
    await world.end("SIGKILL")
    await world.launch()
    const run = await ended(id)
    t.match(gatheredOf(run), { nodes_visited: ["Reach the contact", "Remind"] })
    t.ok(
      saidIn(run).some((text) => /yes/.test(text)),
      "then the transcript has what the callee had said"
    )
    t.equal(world.emulator.log.count("originate"), 1, "then nobody is called again")
  }
)

t.test(
  "given a phone that rings, when the engine is killed and comes back before it is answered, then the agent talks to its callee",
  { skip, buffered: true },
  async (t) => {
    const [number = ""] = numbersOf(1, ["11"])
    const { call, ended, world } = await open(t, new Map([[number, [[/speaking with/, "no wrong number"]]]]))
    world.emulator.letRing(true)
    const id = await call(number)
    await world.seen("ringing", 1)
    await world.end("SIGKILL")
    await world.launch()
    await untilTrunkUp(world)
    world.emulator.letRing(false)
    const run = await ended(id)
    t.match(gatheredOf(run), { call_disposition: "user_qualified", nodes_visited: /Somebody else$/ }, { transcript: saidIn(run) })
    t.equal(world.emulator.log.count("originate"), 1, "then nobody is called again")
  }
)

/** The processes that recognize speech for the engine. */
const recognizersOf = ({ engine }: World): ReadonlyArray<number> =>
  globSync(`/proc/${engine.pid}/task/*/children`)
    .flatMap((path) => readFileSync(path, "utf8").trim().split(" "))
    .filter((pid) => pid !== "" && globSync(`/proc/${pid}/cmdline`).some((path) => readFileSync(path, "utf8").includes("sphinxWorker")))
    .map(Number)
const signal = (pids: ReadonlyArray<number>, name: "SIGKILL" | "SIGSTOP") => {
  for (const pid of pids) {
    try {
      process.kill(pid, name)
    } catch (cause) {
      // The engine may have ended it because it took too long.
      if (!(cause instanceof Error && "code" in cause && cause.code === "ESRCH")) throw cause
    }
  }
}

t.test(
  "given a callee who answers, when the process that recognizes the answer is killed, then at most one turn is lost, and the call continues",
  { skip, buffered: true },
  async (t) => {
    const [number = ""] = numbersOf(1, ["11"])
    const answers = [
      [/still suit/, "yes please"],
      [/speaking with/, "yes speaking"]
    ] as const
    const stopped: Array<number> = []
    let whileAnswering = () => {}
    const scene = await open(t, new Map([[number, answers]]), () => whileAnswering())
    const { call, ended, talkers, world } = scene
    // The process is stopped, so that it has not finished before it is killed.
    whileAnswering = () => {
      if (stopped.length > 0) return
      stopped.push(...recognizersOf(world))
      signal(stopped, "SIGSTOP")
    }
    const id = await call(number)
    await untilTrue("an utterance that is being recognized", async () => {
      if (stopped.length === 0) return false
      const { values } = parse(await (await fetch(`${world.engine.url}/metrics`)).text())
      const isAsked = (values.get('speech_jobs_running{pool="pocketsphinx"}') ?? 0) > 0
      return isAsked || !stopped.some((pid) => recognizersOf(world).includes(pid))
    })
    signal(stopped, "SIGKILL")
    const run = await ended(id)
    const told = { turns: talkers.get(number)?.turns, transcript: saidIn(run) }
    t.match(gatheredOf(run), { call_disposition: "user_qualified", nodes_visited: /Confirmed$/ }, "then the agent has understood", told)
    const lost = world.output().match(/speech was not recognized.*Crashed/g) ?? []
    t.ok(lost.length <= 1, "then one utterance is lost at most")
    t.strictSame(
      stopped.filter((pid) => recognizersOf(world).includes(pid)),
      [],
      "then it was another process"
    )
    t.equal(world.emulator.log.count("originate"), 1, "then nobody is called again")
  }
)

t.test(
  "given a callee who opts out, when the engine is killed before the call ends, then the opt-out is kept",
  { skip, buffered: true },
  async (t) => {
    const [number = ""] = numbersOf(1, ["11"])
    const { call, ended, world } = await open(t, new Map([[number, [[/speaking with/, "stop calling me"]]]]))
    const { sql } = world
    const id = await call(number)
    await untilTrue("an opt-out", async () => (await sql`SELECT FROM opt_outs WHERE phone_number = ${number}`).length === 1)
    // What is said is stored some milliseconds later, together with what others have said.
    await untilTrue(
      "its words",
      async () =>
        (
          await sql`
          SELECT FROM conversation_entries WHERE content::text LIKE '%stop calling me%'
          UNION ALL SELECT FROM runs WHERE id = ${id} AND is_completed`
        ).length > 0
    )
    await world.end("SIGKILL")
    await world.launch()
    const run = await ended(id)
    t.match(gatheredOf(run), { call_disposition: "user_disqualified", call_tags: /opted_out/, nodes_visited: /Reach the contact/ })
    t.ok(
      saidIn(run).some((text) => /stop calling me/.test(text)),
      "then the transcript has what the callee had said"
    )
    const told = await until("an event", async () => {
      const events = await sql`SELECT data FROM events WHERE type = 'contact.opted_out'`
      return events.length > 0 ? events : undefined
    })
    t.match(told, [{ data: { phone_number: number, run_id: id, source: "call" } }], "then there is one event")
    t.match(await world.api.call(world.agentUuid, number), { status: 409, body: { detail: /has opted out/ } })
    const campaign = await world.campaign([number])
    await world.api.start(campaign.id)
    await world.api.untilState(campaign.id, "completed")
    t.equal(world.emulator.log.count("originate"), 1, "then nobody is called again")
  }
)
