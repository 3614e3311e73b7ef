/** Conversations of agents that cannot hear: they say their opening or leave their message, and ask no model. */
import t from "tap"
import type { JsonObject } from "#core/Json.ts"
import { planOf, started, type Talk } from "#test/support/talk.ts"
import { definition, follower, tagsOf } from "#test/support/talkScript.ts"

const deaf = (start: JsonObject, configurations: JsonObject = {}, context: JsonObject = {}): Talk =>
  started({ ...planOf(definition(start), configurations), canHear: false }, { model: follower, context, holdsLines: true })
const isAsking = (talk: Talk) => tagsOf(talk).includes("AskModel")

t.test(
  "given a greeting, when it has been heard, then the agent stays on the line until the callee or the clock ends the call",
  async (t) => {
    const talk = deaf({ greeting: "Hi {{name}}." }, { max_call_duration: 120, max_user_idle_timeout: 5 }, { name: "Ada" })
    talk.send({ _tag: "KeyPressed", digit: "1" })
    t.notOk(tagsOf(talk).includes("StopSpeaking"), "a key does not interrupt it")
    talk.send({ _tag: "LineSpoken", line: 1 })
    talk.wait(119_000)
    t.strictSame([talk.lines(), talk.conclusion(), isAsking(talk)], [["Hi Ada."], undefined, false])
    talk.wait(1000)
    t.match(talk.conclusion(), { disposition: "call_duration_exceeded", isVoicemail: false })
  }
)

t.test("given nothing to say, then the agent is silent", async (t) => {
  const silent = deaf({ greeting: "" })
  t.strictSame([silent.lines(), isAsking(silent), silent.conclusion()], [[], false, undefined])
})

t.test("given an opening that cannot be spoken, then it is tried again, and the third failure ends the call", async (t) => {
  const fail = (talk: Talk) => talk.send({ _tag: "LineFailed", line: talk.state().lines[0]?.id ?? 0 })
  const recovering = deaf({ greeting: "Hi." })
  fail(recovering)
  fail(recovering)
  recovering.send({ _tag: "LineSpoken", line: recovering.state().lines[0]?.id ?? 0 })
  t.strictSame([recovering.lines(), recovering.conclusion()], [["Hi.", "Hi.", "Hi."], undefined])
  const silent = deaf({ greeting: "Hi." })
  for (let tries = 0; tries < 3; tries++) fail(silent)
  t.strictSame([silent.lines(), isAsking(silent)], [["Hi.", "Hi.", "Hi."], false], "no other words are looked for")
  t.match(silent.conclusion(), { disposition: "pipeline_error" })
  const unplayed = deaf({ greeting: "" }, {}, { greeting_override: { type: "audio", recording_id: "r1" } })
  for (let tries = 0; tries < 3; tries++) fail(unplayed)
  t.strictSame([unplayed.lines().length, isAsking(unplayed)], [3, false])
  t.match(unplayed.conclusion(), { disposition: "pipeline_error" })
})

t.test("given a contact's own greeting that is malformed, then the run says so, and the agent's is said", async (t) => {
  const talk = deaf({ greeting: "Hi." }, {}, { greeting_override: { type: "song" } })
  t.strictSame(talk.lines(), ["Hi."])
  t.ok(talk.actions.some((action) => action._tag === "Note" && action.note._tag === "GreetingIgnored"))
})

t.test("given a machine", async (t) => {
  const answered = (action: string) => {
    const talk = deaf({ greeting: "Hi." }, { voicemail_detection: { enabled: true, action, message: "Call us." } })
    talk.send({ _tag: "MachineHeard", verdict: "machine" })
    return talk
  }
  t.match(answered("hangup").conclusion(), { disposition: "voicemail_detected", isVoicemail: true })
  const leaving = answered("leave_message")
  t.match(leaving.actions.at(-1), { _tag: "AwaitMoment", message: "Call us." }, "the message is made before it may be said")
  leaving.send({ _tag: "MessageMoment", canSpeak: true })
  leaving.send({ _tag: "LineSpoken", line: leaving.state().lines[0]?.id ?? 0 })
  t.match(leaving.conclusion(), { isVoicemail: true, messageFate: "left" })
  const going = answered("continue")
  going.send({ _tag: "CalleeHungUp" })
  const heard = { disposition: "user_hangup", isVoicemail: false, gathered: { answered_by: "machine" } }
  t.match(going.conclusion(), heard, "nobody knows whether a person has taken over")
})
