/**
 * How well answering-machine detection tells people from machines, with recordings of people and greetings of machines that it was not tuned
 * on: a sample of those in `npm run bench -- amd`.
 */
import t from "tap"
import { isFoundSoon, isTakenForMachine, type Judged, percent, trial, verdictOn } from "#test/support/amdTrial.ts"
import { type Answerer, type Line, lines, rendition } from "#test/support/answerers.ts"
import { promptsUnavailable, recordedClips } from "#test/support/prompts.ts"

const reason = await promptsUnavailable()
const silence = new Int16Array(1)

/** Every fourth person and every second machine, each on another line than the one before. */
const sample = () => {
  const counts = { person: 0, "long person": 0, machine: 0 }
  const every = { person: 4 * lines.length, "long person": Number.POSITIVE_INFINITY, machine: 2 * lines.length }
  return ({ kind }: Answerer, _: Line) => counts[kind]++ % (every[kind] - 1) === 0
}

t.test("given people and machines from the held-out half", { skip: reason ?? false }, async (t) => {
  const judged = [...trial("held out", sample(), lines)]
  const people = judged.filter(({ answerer }) => answerer.kind === "person")
  const machines = judged.filter(({ answerer }) => answerer.kind === "machine")
  const told = ({ answerer, line, millis, verdict }: Judged) => `${answerer.name}, ${line}: ${verdict} after ${millis} ms`

  t.test("then there are enough of both", async (t) => {
    t.ok(people.length >= 250, `${people.length} people`)
    t.ok(machines.length >= 100, `${machines.length} machines`)
  })
  t.test("then at most one person in a hundred is taken for a machine", async (t) => {
    t.ok(percent(people, isTakenForMachine) <= 1, people.filter(isTakenForMachine).map(told).join("; "))
  })
  t.test("then at least 95 machines in a hundred are found within four seconds", async (t) => {
    const missed = machines.filter((one) => !isFoundSoon(one))
    t.ok(percent(machines, isFoundSoon) >= 95, missed.map(told).join("; "))
  })
})

t.test("a woman who says hello world is a person, each time she is called", { skip: reason ?? false }, async (t) => {
  const hello = [...recordedClips()].find(({ name, voice }) => name === "hello-world" && voice === "en_US_f_Allison")
  const calls = Array.from({ length: 8 }, (_, call): Answerer => {
    const sound = hello?.samples ?? silence
    return { kind: "person", group: "", name: `call ${call}`, half: "held out", sound }
  })
  t.strictSame(
    calls.map((call) => verdictOn(rendition(call, "quiet", silence)).verdict),
    calls.map(() => "human")
  )
})
