/** A campaign through a real Asterisk to every kind of callee. The callees are SIPp, whose log is compared with the engine's record. */
import t from "tap"
import { asteriskUnavailable, startAsterisk } from "#test/support/asterisk.ts"
import { placedBy, eventsOf, numbersOf, recounted, shownCounters, World } from "#test/support/engine.ts"
import { watchLateness } from "#test/support/lateness.ts"

t.setTimeout(1_800_000)

const slots = 12
/** The expected results by the last three digits of the number, as in the table in deploy/asterisk/conf/extensions.conf. */
const fates: Readonly<Record<string, { readonly outcomes: ReadonlyArray<string>; readonly cause: string }>> = {
  "105": { outcomes: ["answered"], cause: "normal_clearing" },
  "200": { outcomes: ["busy", "busy"], cause: "user_busy" },
  "310": { outcomes: ["no_answer", "no_answer"], cause: "no_answer" },
  "400": { outcomes: ["failed"], cause: "call_rejected" },
  "404": { outcomes: ["failed"], cause: "unallocated_number" },
  "600": { outcomes: ["answered"], cause: "normal_clearing" },
  "800": { outcomes: ["failed"], cause: "congestion" },
  "300": { outcomes: ["no_answer", "no_answer"], cause: "ring_timeout" },
  "110": { outcomes: ["answered"], cause: "duration_exceeded" },
  "101": { outcomes: ["answered"], cause: "normal_clearing" }
}
const fateOf = (number: string) => fates[number.slice(-3)]
const kinds = Object.keys(fates)
// These ring for the whole ring timeout, so a few of them are enough.
const endings = [...kinds.flatMap((kind) => (kind === "300" ? ["105"] : [kind, kind])), "300"]

const unavailable = await asteriskUnavailable()

t.test("given sixty contacts behind a real Asterisk, when their campaign is started", { skip: unavailable ?? false }, async (t) => {
  const asterisk = await startAsterisk()
  t.teardown(() => asterisk.stop())
  const world = await World.open(t, {
    account: {
      app_name: asterisk.user,
      app_password: asterisk.password,
      ari_endpoint: asterisk.ariUrl,
      dial_string: "PJSIP/{number}@sipp"
    },
    configurations: { max_call_duration: 6 },
    environment: { ORG_CONCURRENCY: String(slots), TRUNK_RATE: "30" }
  })
  const { api, sql } = world
  const lateness = watchLateness()
  const numbers = numbersOf(60, endings)
  const { id } = await world.campaign(numbers)
  await api.start(id)
  const done = await api.untilState(id, "completed")

  const invites = await asterisk.sippLog("invite")
  const dials = new Map(numbers.map((number) => [number, invites.filter((invite) => invite.number === number).length]))
  t.strictSame(
    [...dials],
    numbers.map((number) => [number, fateOf(number)?.outcomes.length]),
    "then each phone rang as often as needed"
  )
  t.equal(
    invites.length,
    [...dials.values()].reduce((sum, count) => sum + count),
    "then no other phone rang"
  )

  const attempts = Map.groupBy(await placedBy(sql, id), ({ phoneNumber }) => phoneNumber)
  const told = numbers.map((number) => {
    const of = attempts.get(number) ?? []
    return { number, outcomes: of.map(({ outcome }) => outcome), cause: of.at(-1)?.cause }
  })
  t.strictSame(
    told,
    numbers.map((number) => ({ number, ...fateOf(number) })),
    "then every contact has the expected result"
  )
  t.strictSame(await shownCounters(api, id), await recounted(sql, id), "then the counters match a recount")
  t.equal(eventsOf(done)["campaign_completed"], 1)

  const runs = await api.runs(id)
  t.equal(runs.length, invites.length, "then there is one run for each call")
  const typed = runs
    .filter((run) => String(run.initial_context?.["phone_number"]).endsWith("600"))
    .map((run) => run.gathered_context?.["dtmf_digits"])
  t.strictSame([...new Set(typed)], ["1234#"], "then the pressed keys are recorded")
  // Some callees hang up after a fifth of a second, possibly before the audio is connected.
  const shortest = lateness.allow(500) / 1000
  const answered = runs.filter(
    (run) => run.gathered_context?.["call_disposition"] === "user_hangup" && Number(run.usage_info?.["call_duration_seconds"]) > shortest
  )
  t.ok(runs.some((run) => run.recording_url !== null))
  const unrecorded = answered.filter((run) => run.recording_url === null)
  t.strictSame(unrecorded, [], "then each conversation was recorded")
})
