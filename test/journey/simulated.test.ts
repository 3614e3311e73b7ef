/** A first campaign without a trunk: the simulated provider, configured with an empty form. */
import t from "tap"
import { calleeOf } from "#adapters/simulated/Callee.ts"
import { aloud, attemptsOf, numbersOf, type Run, shownCounters, recounted, World } from "#test/support/engine.ts"

const contacts = 20
const ANSWER_PERCENT = 70
/** By who has the phone. */
const outcomeOf = (number: string): string => {
  const callee = calleeOf(number, ANSWER_PERCENT)
  if (callee._tag === "Answers") return callee.as === "machine" ? "voicemail" : "answered"
  return callee._tag === "RingsOut" ? "no_answer" : "busy"
}

t.test("given an engine without a trunk, when it calls twenty numbers through the simulated provider", async (t) => {
  const world = await World.open(t, {
    account: { provider: "simulated" },
    configurations: { voicemail_detection: { enabled: true } },
    greeting: aloud
  })
  const { api, emulator, sql } = world
  const numbers = numbersOf(contacts, ["01", "02", "03", "04", "77", "78", "79", "80", "81", "82"])
  const { id } = await world.campaign(numbers, { max_concurrency: 20, retry: { maxRetries: 0 } })
  await api.start(id)
  await api.untilState(id, "completed")

  const attempts = await attemptsOf(sql, id)
  const found = Object.fromEntries(
    attempts.filter(({ state }) => state !== "void").map(({ outcome, phoneNumber }) => [phoneNumber, outcome])
  )
  t.strictSame(found, Object.fromEntries(numbers.map((number) => [number, outcomeOf(number)])), "then each number did what it always does")
  t.equal(new Set(Object.values(found)).size, 4, "and there is one of each kind")
  t.strictSame(await shownCounters(api, id), await recounted(sql, id), "and the counters agree")
  t.equal(emulator.log.count("originate"), 0, "and nobody was called")

  const runs = await api.runs(id)
  t.strictSame([...new Set(runs.map(providerOf))], ["simulated"], "and each run says that it was simulated")
  const talked = runs.filter((run) => found[String(run.initial_context?.["phone_number"])] === "answered")
  const silent = talked.filter((run) => run.transcript_url === null || run.recording_url === null)
  t.strictSame(silent, [], "and each person heard the agent, and was recorded")
})

const providerOf = (run: Run) => run.initial_context?.["provider"]
