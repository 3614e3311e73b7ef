/** Nobody is left in silence: what waiting callees are told, and when. */
import t from "tap"
import { call, finished, planOf, started, storedTool, type Talk, text, toolUuid } from "#test/support/talk.ts"
import { definition, scripted } from "#test/support/talkScript.ts"

const filler = "One moment, please."
const next = "I am still on it, one moment."
const plan = planOf(definition({ greeting: "Hello.", tool_uuids: [toolUuid(1), toolUuid(2)] }), {}, [
  storedTool(1, "Look up", { type: "http_api", config: { method: "GET", url: "https://a.example/", customMessage: "I look." } }),
  storedTool(2, "Sums", { type: "calculator" })
])
/** The last thing said, after this time. */
const saidAfter = (talk: Talk, millis: number) => {
  talk.wait(millis)
  return talk.lines().at(-1)
}
const lastLine = (talk: Talk) => talk.state().lines.at(-1)?.id ?? 0

t.test("given a model that fails late, when it is asked again, then the callee hears a filler as if nothing had happened", async (t) => {
  const talk = started(plan, { model: scripted("hangs", "hangs") })
  talk.says("hm")
  talk.wait(2400)
  talk.send({ _tag: "ModelFailed", generation: talk.state().answer?.generation ?? 0, isRetryable: true })
  t.equal(saidAfter(talk, 99), "Hello.")
  t.equal(saidAfter(talk, 1), filler)
})

t.test("given a turn whose end was noticed late, then the time the callee has already waited counts", async (t) => {
  const talk = started(plan, { model: scripted("hangs", "hangs") })
  talk.send({ _tag: "CalleeStarted" })
  talk.send({ _tag: "CalleeTurn", text: "hm", waitedMillis: 1500 })
  t.equal(saidAfter(talk, 999), "Hello.")
  t.equal(saidAfter(talk, 1), filler)
  t.equal(saidAfter(talk, 2499), filler, "and once only")
  t.equal(saidAfter(talk, 1), next)
})

t.test("given a callee whose words are not known yet, then they hear a filler, and are answered when they are", async (t) => {
  const talk = started(plan, { model: scripted([text("Good.")]) })
  talk.send({ _tag: "CalleeStarted" })
  talk.send({ _tag: "CalleeWaits" })
  talk.send({ _tag: "CalleeTurn", text: "hm", waitedMillis: 4000 })
  t.strictSame(talk.lines(), ["Hello.", filler, "Good."])
})

t.test("given a filler that cannot be spoken while the callee's words are not known, then they hear another", async (t) => {
  const talk = started(plan, { model: scripted(), holdsLines: true })
  talk.send({ _tag: "LineSpoken", line: lastLine(talk) })
  talk.send({ _tag: "CalleeStarted" })
  talk.send({ _tag: "CalleeWaits" })
  talk.send({ _tag: "LineFailed", line: lastLine(talk) })
  t.equal(talk.lines().at(-1), next)
})

t.test("given speech over an answer that stalls, then the agent says no more of it", async (t) => {
  const talk = started(plan, { model: scripted("hangs", [text("Good.")]) })
  talk.says("hm")
  const generation = talk.state().answer?.generation ?? 0
  talk.send({ _tag: "ModelSaid", generation, part: text("Well") })
  talk.send({ _tag: "CalleeStarted" })
  talk.send({ _tag: "CalleeWaits" })
  talk.send({ _tag: "ModelSaid", generation, part: text(" then.") })
  t.strictSame(talk.lines(), ["Hello.", "Well", filler])
})

t.test("given a line that cannot be spoken while the callee waits, then they hear a filler at once, and then another", async (t) => {
  const talk = started(plan, { model: scripted([call("look_up")]), holdsLines: true })
  talk.send({ _tag: "LineSpoken", line: lastLine(talk) })
  talk.says("hm")
  t.equal(talk.lines().at(-1), "I look.")
  talk.send({ _tag: "LineFailed", line: lastLine(talk) })
  t.equal(talk.lines().at(-1), filler)
  talk.send({ _tag: "LineFailed", line: lastLine(talk) })
  t.equal(talk.lines().at(-1), next)
  talk.send({ _tag: "LineFailed", line: lastLine(talk) })
  t.equal(talk.conclusion()?.disposition, "pipeline_error", "but not forever")
})

t.test("given a transition to the end that is taken while the callee speaks, then the goodbye waits until they finish", async (t) => {
  const talk = started(plan, { model: scripted("hangs", [text("Goodbye.")]) })
  talk.says("no")
  const generation = talk.state().answer?.generation ?? 0
  talk.send({ _tag: "CalleeStarted" })
  talk.send({ _tag: "ModelSaid", generation, part: call("no") })
  talk.send({ _tag: "ModelSaid", generation, part: finished })
  talk.says("thank you")
  t.equal(talk.lines().at(-1), "Goodbye.")
  t.equal(talk.conclusion()?.disposition, "user_qualified")
})

t.test("given the rest of a turn during an announcement, then it is answered afterwards", async (t) => {
  const announced = planOf(definition({ greeting: "Hello." }, {}, { transition_speech: "Let me see." }))
  const talk = started(announced, { model: scripted("hangs", [text("So then.")]), holdsLines: true })
  talk.send({ _tag: "LineSpoken", line: lastLine(talk) })
  talk.says("yes")
  const generation = talk.state().answer?.generation ?? 0
  talk.send({ _tag: "CalleeStarted" })
  talk.send({ _tag: "ModelSaid", generation, part: call("yes") })
  talk.send({ _tag: "ModelSaid", generation, part: finished })
  talk.send({ _tag: "CalleeTurn", text: "please" })
  t.equal(talk.lines().at(-1), "Let me see.")
  talk.send({ _tag: "LineSpoken", line: lastLine(talk) })
  t.equal(talk.lines().at(-1), "So then.")
})

t.test("given tools that end while the callee speaks, when that was no speech, then the agent continues", async (t) => {
  const talk = started(plan, { model: scripted("hangs", [text("Found.")]), holdsLines: true })
  talk.send({ _tag: "LineSpoken", line: lastLine(talk) })
  talk.says("hm")
  const generation = talk.state().answer?.generation ?? 0
  talk.send({ _tag: "CalleeStarted" })
  for (const part of [text("Let me add that up."), call("safe_calculator", { expression: "1+1" }), finished])
    talk.send({ _tag: "ModelSaid", generation, part })
  talk.send({ _tag: "CalleeTurn", text: "" })
  t.equal(talk.lines().at(-1), "Found.", "although it has not said all of the former")
})
