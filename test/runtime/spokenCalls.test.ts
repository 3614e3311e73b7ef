/** Conversations in calls through an emulated Asterisk, judged by what the callee hears, by who hangs up, and by what is recorded. */
import t from "tap"
import type { ModelRequest } from "#core/model/LanguageModel.ts"
import type { CallFact } from "#core/conversation/ConversationEntry.ts"
import { after, keyTone, nothing } from "#test/support/sound.ts"
import { type SpokenCall, spokenCall } from "#test/support/spokenCalls.ts"
import { call, type ScriptedModel, storedTool, text, toolUuid } from "#test/support/talk.ts"
import { toldTo } from "#test/support/talkScene.ts"
import { definition } from "#test/support/talkScript.ts"
import { untilTrue } from "#test/support/until.ts"

const lastWords = ({ messages }: ModelRequest) => {
  const last = messages.findLast(({ _tag }) => _tag === "User")
  return last?._tag === "User" ? last.text : ""
}
const lines = {
  greeting: "Good morning Ada and everybody in your house.",
  question: "I have a question and it is a long one so please listen to all of it before you say a word.",
  patience: "Take your time.",
  connecting: "I connect you now.",
  nobody: "They are not there.",
  goodbye: "Thank you for your time and goodbye."
}
const script: ScriptedModel = (request) => {
  const { messages, node, purpose } = request
  const words = lastWords(request)
  if (purpose === "extract") return [call("save_variables", { wish: words })]
  if (purpose !== "turn") return [text(purpose)]
  if (node.type === "endCall") return [text(lines.goodbye)]
  const last = messages.at(-1)
  if (last?._tag === "ToolResult" && last.name === "connect") return [text(lines.nobody)]
  if (last?._tag !== "User") return [text(lines.question)]
  if (node.id === "start") return [call("yes")]
  if (words === "1") return [call("connect")]
  return /^no/i.test(words) ? [call("done")] : [text(lines.patience)]
}
const graph = (destination: string) => ({
  definition: definition(
    { greeting: "Good morning {{first_name}} and everybody in your house." },
    { tool_uuids: [toolUuid(1)], extraction_enabled: true, extraction_variables: [{ name: "wish", type: "string" }] }
  ),
  tools: [storedTool(1, "Connect", { type: "transfer_call", config: { destination, customMessage: lines.connecting, timeout: 30 } })],
  configurations: { max_user_idle_timeout: 300 },
  script
})
/** The tone of the test's voice lasts 100 ms for each word. */
const framesOf = (...said: ReadonlyArray<string>) => said.join(" ").split(" ").length * 5
const events = ({ emulator }: SpokenCall, kind: string) => emulator.log.entries.filter((entry) => entry.kind === kind)
const concludesWith = (disposition: string) => (fact: CallFact) =>
  fact._tag === "Remembered" && fact.gathered["call_disposition"] === disposition
const gathered = ({ world }: SpokenCall) => world.ends[0]?.record.gatheredContext

t.test("given a callee who answers, interrupts, presses keys, and is transferred in vain, then the call ends properly", async (t) => {
  let heardBefore = 0
  const spoken = await spokenCall(t, graph("+15550100002"), async (one) => {
    const { heard, makes, presses, requests, says, untilHeard } = one
    await untilHeard(framesOf(lines.greeting))
    says("Yes, I would like that.")
    await untilHeard(framesOf(lines.greeting) + 20)
    says("Wait a minute, please.")
    await untilTrue("interruption", () => requests.some((request) => lastWords(request).startsWith("Wait")))
    const cut = heard()
    await untilHeard(cut + framesOf(lines.patience))
    // Its tones are heard before the phone reports it.
    makes(after(nothing(300), keyTone("1", 150), nothing(100)))
    await untilTrue("key", () => requests.some((request) => lastWords(request) === "1"))
    presses("1")
    await untilHeard(cut + framesOf(lines.patience, lines.connecting, lines.nobody))
    heardBefore = heard()
    says("No, thank you.")
  })
  const { emulator, heard, requests, world } = spoken
  t.equal(heard(), heardBefore + framesOf(lines.goodbye), "the goodbye was heard to its end")
  t.match(events(spoken, "ended").at(-1), { by: "us" })
  t.equal(world.ends.length, 1)
  t.match(world.ends[0], { outcome: "answered", cause: "agent_hangup" })
  t.match(gathered(spoken), {
    call_disposition: "user_qualified",
    call_tags: ["user_qualified", "user_speech"],
    dtmf_digits: "1",
    wish: "No, thank you.",
    nodes_visited: ["start", "ask", "bye"]
  })
  t.equal(emulator.log.count("originate"), 2, "the destination was dialed once")
  const told = toldTo(requests.find((request) => lastWords(request).startsWith("Wait")))
  const cutLine = told.at(-2)?.replace("agent: ", "") ?? ""
  t.ok(lines.question.startsWith(cutLine) && cutLine.length < 60, `of the question, they heard: ${cutLine}`)
  t.strictSame(toldTo(requests.at(-1)).slice(-4), [
    `agent: ${lines.patience}`,
    "callee: 1",
    `agent: ${lines.nobody}`,
    "callee: No, thank you."
  ])
})

t.test("given a destination that answers, then the conversation is over, and the two of them continue", async (t) => {
  let isApart = false
  const spoken = await spokenCall(t, graph("+15550100011"), async (one) => {
    const { emulator, facts, hangsUp, presses, says, untilHeard } = one
    await untilHeard(framesOf(lines.greeting))
    says("Yes, I would like that.")
    await untilHeard(framesOf(lines.greeting, lines.question))
    presses("1")
    await untilTrue("answer of the destination", () => emulator.log.count("answered") === 2)
    await untilTrue("end of the conversation", () => facts.some(concludesWith("transfer_call")))
    isApart = emulator.log.count("ended") === 0
    hangsUp()
  })
  t.ok(isApart)
  t.match(events(spoken, "ended")[0], { by: "callee" })
  t.match(gathered(spoken), { call_disposition: "transfer_call", nodes_visited: ["start", "ask"] })
  t.equal(spoken.world.ends.length, 1)
})

t.test("given a callee who hangs up during the goodbye, or during the first word, then that is recorded once", async (t) => {
  const hungUp = async (frames: number) => {
    const spoken = await spokenCall(t, graph("+15550100011"), async ({ hangsUp, says, untilHeard }) => {
      await untilHeard(Math.min(frames, framesOf(lines.greeting)))
      if (frames > framesOf(lines.greeting)) {
        says("Yes, I would like that.")
        await untilHeard(framesOf(lines.greeting, lines.question))
        says("No, thank you.")
        await untilHeard(frames)
      }
      hangsUp()
    })
    t.equal(spoken.world.ends.length, 1)
    return { cause: spoken.world.ends[0]?.cause, disposition: gathered(spoken)?.call_disposition }
  }
  t.strictSame(await hungUp(5), { cause: "normal_clearing", disposition: "user_hangup" })
  const late = await hungUp(framesOf(lines.greeting, lines.question) + 10)
  t.strictSame(late, { cause: "normal_clearing", disposition: "user_qualified" }, "the agent had come to its end")
})
