/** A whole campaign with every kind of callee, and its traces: in the callees' log, in the API, in the engine's log. */
import t from "tap"
import { placedBy, judge, numbersOf, type Run, World } from "#test/support/engine.ts"

/** Occurs in a log for no other reason. */
const password = "hush-4711-far-end"
const slots = 20
const contacts = 200
const greeting = "Hello {{first_name}}, your parcel is waiting at the counter."

/** By the last two digits of the number: the outcomes of its attempts, in order, and the cause of the last end. */
const fates: Readonly<Record<string, { readonly outcomes: ReadonlyArray<string>; readonly cause: string }>> = {
  "01": { outcomes: ["answered"], cause: "normal_clearing" },
  "02": { outcomes: ["busy", "busy"], cause: "user_busy" },
  "03": { outcomes: ["no_answer", "no_answer"], cause: "ring_timeout" },
  "04": { outcomes: ["voicemail", "voicemail"], cause: "machine_detected" },
  "05": { outcomes: ["answered"], cause: "network_out_of_order" },
  "06": { outcomes: ["answered"], cause: "normal_clearing" },
  "07": { outcomes: ["failed"], cause: "call_rejected" },
  "08": { outcomes: ["failed"], cause: "unallocated_number" },
  "09": { outcomes: ["failed"], cause: "congestion" },
  "10": { outcomes: ["answered"], cause: "normal_clearing" },
  "11": { outcomes: ["answered"], cause: "duration_exceeded" },
  "12": { outcomes: ["answered"], cause: "normal_clearing" },
  "13": { outcomes: ["no_answer", "no_answer"], cause: "no_answer" },
  "14": { outcomes: ["no_answer", "no_answer"], cause: "ring_timeout" }
}
const fateOf = (number: string) => fates[number.slice(-2)]
const endings = Object.keys(fates)
const contextOf = (run: Run) => run.gathered_context ?? {}
const numberOf = (run: Run) => String(run.initial_context?.["phone_number"])

t.test("given 200 contacts with every kind of callee, when their campaign is started", async (t) => {
  const world = await World.open(t, {
    configurations: { max_call_duration: 15, voicemail_detection: { enabled: true } },
    emulator: { password, ringMillis: 3000, seed: 7, talkMillis: 30_000, talkOnceHeard: true, timeScale: 0.1 },
    environment: { LOG_LEVEL: "debug", ORG_CONCURRENCY: String(slots) },
    greeting
  })
  const {
    api,
    emulator: { log },
    sql
  } = world
  const numbers = numbersOf(contacts, endings)
  const { id } = await world.campaign(numbers, { max_concurrency: slots, retry_config: { retry_delay_seconds: 30 } })
  await api.start(id)
  const done = await api.untilState(id, "completed")
  await t.test("then the callees were called as often as needed, and never too many at once", async (t) => {
    const expected = new Map(numbers.map((number) => [number, fateOf(number)?.outcomes.length]))
    t.strictSame(new Map([...log.dialsByNumber()].toSorted()), new Map([...expected].toSorted()))
    await judge(t, world, id, slots)
    t.equal(log.mostLive(), slots, "all slots were used")
  })

  await t.test("then every contact has the expected result", async (t) => {
    const attempts = Map.groupBy(await placedBy(sql, id), ({ phoneNumber }) => phoneNumber)
    const told = numbers.map((number) => {
      const of = attempts.get(number) ?? []
      return { number, outcomes: of.map(({ outcome }) => outcome), cause: of.at(-1)?.cause }
    })
    t.strictSame(
      told,
      numbers.map((number) => ({ number, ...fateOf(number) }))
    )
    t.strictSame(
      // A machine that is busy with other tests may be late with speech, and then the log says so.
      done.logs.map(({ event }) => event).filter((event) => !["conversation_slow", "greeting_missed"].includes(event)),
      ["campaign_created", "source_sync_completed", "campaign_started", "campaign_completed"]
    )
  })

  const runs = await api.runs(id)
  await t.test("then each conversation has a transcript, a recording and the pressed keys", async (t) => {
    const answered = runs.filter((run) => fateOf(numberOf(run))?.outcomes[0] === "answered")
    t.strictSame(answered.filter((run) => run.recording_url === null).map(numberOf), [], "each was recorded")
    // A callee who heard less than a second of the greeting may not have heard any word of it.
    const greeted = new Set(
      log.entries.filter(({ channelId, kind }) => kind === "answered" && log.audio(channelId).loud > 50).map(({ number }) => number)
    )
    const silent = answered.filter((run) => run.transcript_url === null && greeted.has(numberOf(run)))
    t.strictSame(silent.map(numberOf), [], "each has a transcript")
    const typed = new Set(runs.filter((run) => numberOf(run).endsWith("10")).map((run) => contextOf(run)["dtmf_digits"]))
    t.strictSame([...typed], ["1234#"])
    const retries = runs.filter((run) => run.initial_context?.["is_retry"] === true)
    t.equal(retries.length, numbers.filter((number) => fateOf(number)?.outcomes.length === 2).length, "retries know that they are")

    const twelve = answered.filter((run) => numberOf(run).endsWith("12") && run.transcript_url !== null)
    const transcripts = await Promise.all(twelve.map(async (run) => (await fetch(run.transcript_public_url ?? "")).text()))
    // A callee who hung up while the speech was still being generated has heard less of it, and the transcript says so.
    t.ok(transcripts.some((transcript) => transcript.includes("Hello Ada, your parcel")))
    const run = twelve[0]
    const recording = Buffer.from(await (await fetch(run?.recording_public_url ?? "")).arrayBuffer())
    t.equal(recording.toString("latin1", 0, 4), "RIFF")
  })

  await t.test("then the engine's log holds nothing private", async (t) => {
    t.equal((await world.end("SIGTERM")).code, 0)
    const written = world.output()
    t.ok(written.length > 1000, `${written.length} characters were written`)
    const digits = numbers.map((number) => number.slice(1))
    const found = digits.filter((number) => written.includes(number))
    t.strictSame(found, [], "no phone number")
    const basic = Buffer.from(`${world.emulator.user}:${world.emulator.password}`).toString("base64")
    for (const [what, secret] of Object.entries({
      "API key": world.apiKey,
      login: basic,
      password,
      speech: "parcel",
      keys: "1234#"
    })) {
      t.notOk(written.includes(secret), `no ${what}`)
    }
  })
})
