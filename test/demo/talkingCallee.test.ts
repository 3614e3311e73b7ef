/** The callees who hold the demo's conversations: how they react to the agent's own voice. */
import t from "tap"
import { type Conversation, conversationsThrough, goodbye } from "./Appointments.ts"
import { speak } from "./speak.ts"
import { TalkingCallee } from "./TalkingCallee.ts"

const tickMillis = 20
const conversations = conversationsThrough("ari")
const speech = await speak(conversations)

const framesOf = (sentence: string) => speech.agent.get(sentence)?.frames ?? []

/** A call in which `hears` lets the agent speak or be silent next. */
const calling = (conversation: Conversation) => {
  const pressed: Array<string> = []
  const callee = new TalkingCallee(conversation, speech, (digit) => void pressed.push(digit))
  const hears = (...parts: ReadonlyArray<string | number>) => {
    for (const part of parts) {
      const frames = typeof part === "string" ? framesOf(part) : Array.from({ length: part / tickMillis }, () => undefined)
      for (const frame of frames) callee.talker.next(frame)
    }
    return callee.talker.turns.map(({ text }) => text)
  }
  return { callee, hears, pressed }
}
const who = (title: string): Conversation => {
  const found = conversations.find((one) => one.title === title)
  if (found === undefined) throw new Error(`nobody ${title}`)
  return found
}

t.test(
  "given a question that was heard, when the agent is silent, then it is answered, and answered again if it is repeated",
  async (t) => {
    const { answers } = who("agrees")
    const [{ hears: question, says = "" } = { hears: "" }] = answers
    const { callee, hears } = calling(who("agrees"))
    t.strictSame(hears(5000), [], "nobody has asked anything")
    t.strictSame(hears(question), [], "the agent may continue")
    t.strictSame(hears(2000), [says])
    t.strictSame(hears(2000, question, 3000), [says, says])
    t.strictSame(hears("Are you still there?", 3000), [says, says, says], "the agent has not heard it")
    t.strictSame(hears(goodbye, 3000), [says, says, says], "that is not a question")
    t.strictSame(callee.understood, [question, question, "Are you still there?", goodbye])
  }
)

t.test("given a callee who interrupts, when a sentence has begun, then they interrupt it once", async (t) => {
  const [{ hears: sentence = "", says = "" } = {}, { hears: question = "" } = {}] = who("interrupts the agent").answers
  const { callee, hears } = calling(who("interrupts the agent"))
  t.strictSame(hears(sentence), [says])
  t.ok((callee.talker.turns[0]?.from ?? Number.POSITIVE_INFINITY) < (framesOf(sentence).length * tickMillis) / 2)
  t.strictSame(hears(2000, sentence, 2000), [says], "not when the agent says it again")
  t.strictSame(hears(question, 2000), [says, says], "but the question is answered")
})

t.test("given a callee who presses keys, then all are pressed when it is their turn", async (t) => {
  const { hears: question = "", presses = "" } = who("presses the number").answers.at(-1) ?? {}
  const { callee, hears, pressed } = calling(who("presses the number"))
  hears(question)
  t.strictSame(pressed, [])
  t.strictSame(hears(2000), [], "nothing is said with it")
  t.equal(pressed.join(""), presses)
  t.equal(callee.turns, 1)
})

t.test("given a carrier that does not report keys, then no callee presses any", async (t) => {
  const presses = (all: ReadonlyArray<Conversation>) => all.some(({ answers }) => answers.some((answer) => answer.presses !== undefined))
  t.ok(presses(conversationsThrough("twilio")))
  t.notOk(presses(conversationsThrough("vobiz")))
})
