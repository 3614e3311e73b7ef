/**
 * An engine that is killed during several conversations, each at a different node. Callees speak, and a recognizer that makes no mistakes hears them.
 * The runs that the API returns after the start of another process are compared.
 */
import t from "tap"
import { edge, extracted, graph, node } from "#core/agent/templates/parts.ts"
import type { JsonObject } from "#core/Json.ts"
import { installRecognizer, recognizerName } from "#test/support/installRecognizer.ts"
import { numbersOf, type Run, untilTrue, type World } from "#test/support/engine.ts"
import { makeMouth, type SpokenUtterance } from "#test/support/utterances.ts"
import { type Answers, openConversations } from "./openConversations.ts"

const asks = (id: string, column: number, name: string, line: string, variable: Parameters<typeof extracted>[1]): JsonObject =>
  node(id, "agentNode", [column, 0], {
    name,
    prompt: `Say: "${line}"`,
    add_global_prompt: false,
    ...extracted(`The ${variable.name}.`, variable)
  })

const returns: JsonObject = graph(
  [
    node("start", "startCall", [0, 0], {
      name: "Reach the contact",
      greeting_type: "text",
      greeting: "Hello, am I speaking with Ada?",
      prompt: 'Say: "Am I speaking with Ada?"',
      add_global_prompt: false
    }),
    asks("boxes", 1, "Boxes", "How many boxes shall we take back?", { name: "boxes", type: "number", prompt: "How many boxes." }),
    asks("number", 2, "Number", "What is your customer number?", { name: "customer_number", type: "string", prompt: "As digits." }),
    asks("bags", 3, "Bags", "And how many bags?", { name: "bags", type: "number", prompt: "How many bags." }),
    node("end", "endCall", [4, 0], { name: "End", prompt: 'Say: "Goodbye."', add_global_prompt: false })
  ],
  [
    edge("start", "boxes", "Right person", "The contact is on the phone."),
    edge("boxes", "number", "Boxes told", "The callee has told how many."),
    edge("number", "bags", "Number told", "The callee has told the number."),
    edge("bags", "end", "Bags told", "The callee has told how many.")
  ]
)

const [person, boxes, number, readBack, bags] = [/speaking with/, /how many boxes/i, /customer number/, /Is that right/, /how many bags/]
const answers = [
  [person, "yes speaking"],
  [boxes, "three boxes"],
  [number, "four seven nine three"],
  [readBack, "yes that is right"],
  [bags, "two bags"]
] as const
const speak = makeMouth()
const spoken = new Map<string, SpokenUtterance>(answers.map(([, text]) => [text, speak(text, { voice: "rms" })]))

/** A callee who answers the latest question, even if it is repeated, but is silent if the question matches `silentAt`. */
interface Callee {
  readonly number: string
  silentAt: RegExp
}
const answering =
  (callee: Callee): Answers =>
  (lines) => {
    const last = lines.at(-1) ?? ""
    const answer = callee.silentAt.test(last) ? undefined : answers.find(([asked]) => asked.test(last))?.[1]
    return spoken.get(answer ?? "")
  }

/** The variables as they are recorded now: those that were gathered last, if any. */
const gatheredFrom = async ({ sql }: World, { number }: Callee): Promise<JsonObject> => {
  const [last] = await sql<Array<{ content: JsonObject }>>`
    SELECT e.content FROM conversation_entries e JOIN attempts a ON a.id = e.call_id
    WHERE a.phone_number = ${number} AND e.kind = 'gathered' ORDER BY e.ordinal DESC LIMIT 1`
  return last?.content ?? {}
}

/** The transcript without the times. */
const transcriptOf = async ({ transcript_public_url: url }: Run): Promise<ReadonlyArray<string>> =>
  (await (await fetch(String(url))).text())
    .trim()
    .split("\n")
    .map((line) => line.replace(/^\[\S+\] /, ""))

/** The conversation as the run has it. URLs are left out, because they belong to one process. */
const heldOf = async (run: Run) => ({ gathered: run.gathered_context, logs: run.logs, transcript: await transcriptOf(run) })

const opening = ["assistant: Hello, am I speaking with Ada?"]
const withBoxes = [...opening, "user: yes speaking", "assistant: How many boxes shall we take back?", "user: three boxes"]
const withNumber = [
  ...withBoxes,
  "assistant: What is your customer number?",
  "user: four seven nine three",
  "assistant: I heard 4, 7, 9, 3. Is that right?"
]

t.test("given conversations with variables, each at a different node, when the engine is killed", async (t) => {
  const [first = "", second = "", third = "", fourth = ""] = numbersOf(4, ["11"])
  const telling: Callee = { number: first, silentAt: readBack }
  const callees: ReadonlyArray<Callee> = [
    telling,
    { number: second, silentAt: readBack },
    { number: third, silentAt: bags },
    { number: fourth, silentAt: person }
  ]
  const folder = t.testdir({})
  const setting = {
    definition: returns,
    // The first callee to fall silent must still be there when the last one does.
    configurations: { max_user_idle_timeout: 300, model_overrides: { stt: { provider: recognizerName } } },
    callees: new Map(callees.map((callee) => [callee.number, answering(callee)]))
  }
  const environment = installRecognizer(folder, { callees: spoken })
  const { call, ended: endOf, linesTo, originated, world } = await openConversations(t, setting, { environment, folder })
  const ids: Array<number> = []
  for (const { number } of callees) ids.push(await call(number))
  await untilTrue("silence of all callees", () => callees.every(({ number, silentAt }) => silentAt.test(linesTo(number).at(-1) ?? "")))
  telling.silentAt = bags
  await untilTrue("the number", async () => (await gatheredFrom(world, telling))["customer_number"] !== undefined)
  await world.end("SIGKILL")
  await world.launch()
  const ended = () => Promise.all(ids.map(async (id) => heldOf(await endOf(id))))
  const held = await ended()
  const [afterNumber, whileConfirming, beforeBags, greeted] = held

  const heard = [...withNumber, "user: yes that is right"]
  t.strictSame(
    {
      variables: afterNumber?.gathered?.["extracted_variables"],
      visited: afterNumber?.gathered?.["nodes_visited"],
      // The next question may have been heard as well.
      transcript: afterNumber?.transcript.slice(0, heard.length)
    },
    { variables: { boxes: 3, customer_number: "4793" }, visited: ["Reach the contact", "Boxes", "Number", "Bags"], transcript: heard },
    "then the latest answer is kept, and the node that it led to"
  )
  t.strictSame(
    { variables: whileConfirming?.gathered?.["extracted_variables"], transcript: whileConfirming?.transcript },
    { variables: { boxes: 3 }, transcript: withNumber },
    "then an unconfirmed answer is only in the transcript, and earlier variables are kept"
  )
  t.match(whileConfirming?.gathered, { boxes: 3, nodes_visited: ["Reach the contact", "Boxes", "Number"] })
  t.strictSame(
    { variables: beforeBags?.gathered?.["extracted_variables"], transcript: beforeBags?.transcript },
    {
      variables: { boxes: 3, customer_number: "4793" },
      transcript: [...heard, "assistant: And how many bags?"]
    },
    "then a node that has collected nothing removes nothing"
  )
  t.strictSame(
    {
      variables: greeted?.gathered?.["extracted_variables"],
      visited: greeted?.gathered?.["nodes_visited"],
      transcript: greeted?.transcript
    },
    { variables: {}, visited: ["Reach the contact"], transcript: opening },
    "then a conversation that has just begun is kept too"
  )
  for (const { gathered } of held) t.match(gathered, { hangup_cause: "node_lost", call_disposition: "error" })
  t.equal(originated(), callees.length, "then nobody is called again")

  await world.end("SIGKILL")
  await world.launch()
  t.strictSame(await ended(), held, "then another kill changes none of it")
})
