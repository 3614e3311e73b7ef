/**
 * An agent that arranges the delivery of a parcel and takes a message in whatever words, and a language model's server that understands callees about as
 * well as a model does: by what they mean, with small errors of hearing, and it asks again when an answer makes no sense. The server needs no key.
 */
import type { Test } from "tap"
import { edge, extracted, graph, node } from "#core/agent/templates/parts.ts"
import type { JsonObject } from "#core/Json.ts"
import { OpenAiEmulator } from "#test/emulators/openai/OpenAiEmulator.ts"
import { plainWords } from "#test/support/hearing/openTrial.ts"

export const questions = {
  day: "On which day shall we deliver your parcel?",
  boxes: "How many empty boxes shall we take back?",
  message: "What shall I tell the driver?",
  whose: "Is the parcel for your family, for friends, or for work?"
} as const
export type Question = keyof typeof questions

const asks = (id: Question, row: number, name: string, more: JsonObject = {}): JsonObject =>
  node(id, "agentNode", [0, row], { name, prompt: `Say: "${questions[id]}"`, allow_interrupt: true, add_global_prompt: false, ...more })
const ends = (id: string, column: number, name: string): JsonObject =>
  node(id, "endCall", [column, 4], { name, prompt: 'Say: "Thank you. Goodbye."', add_global_prompt: false })

export const parcelAgent: JsonObject = graph(
  [
    node("day", "startCall", [0, 0], {
      name: "Day",
      greeting_type: "text",
      greeting: `Hello, this is Acme. ${questions.day}`,
      prompt: `Say: "${questions.day}"`,
      allow_interrupt: true,
      add_global_prompt: false,
      ...extracted("The day.", { name: "day", type: "string", prompt: "The day of the delivery." })
    }),
    asks("boxes", 1, "Boxes", extracted("The boxes.", { name: "boxes", type: "number", prompt: "How many empty boxes are taken back." })),
    asks("message", 2, "Message", extracted("The message.", { name: "message", type: "string", prompt: "The message, word for word." })),
    asks("whose", 3, "Whose"),
    ends("family", 0, "For the family"),
    ends("friends", 1, "For friends"),
    ends("work", 2, "For work")
  ],
  [
    edge("day", "boxes", "Day named", "The callee has named a day."),
    edge("boxes", "message", "Boxes told", "The callee has told how many."),
    edge("message", "whose", "Message left", "The callee has said what the driver shall know."),
    edge("whose", "family", "Family", "The parcel is for the family."),
    edge("whose", "friends", "Friends", "The parcel is for friends."),
    edge("whose", "work", "Work", "The parcel is for work.")
  ]
)

const days = ["monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday", "tomorrow", "today"]
const numbers = ["zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve", "thirteen"]
const whose: ReadonlyArray<readonly [RegExp, string]> = [
  [/famil/, "family"],
  [/friend/, "friends"],
  [/work|office/, "work"]
]

const understoodAs: { readonly [Asked in Question]: (words: ReadonlyArray<string>) => string | number | undefined } = {
  day: (words) => words.find((word) => days.includes(word)),
  boxes: (words) => {
    const at = numbers.findIndex((number) => words.includes(number))
    return at < 0 ? undefined : at
  },
  message: (words) => (words.length > 0 ? words.join(" ") : undefined),
  whose: (words) => whose.find(([pattern]) => pattern.test(words.join(" ")))?.[1]
}
const edgeOf = (asked: Question, value: string | number): string =>
  asked === "whose" ? String(value) : { day: "day_named", boxes: "boxes_told", message: "message_left" }[asked]

const askedIn = (text: string): Question | undefined =>
  // Cast: the keys of the questions.
  (Object.keys(questions) as ReadonlyArray<Question>).find((one) => text.includes(questions[one]))

interface Said {
  readonly role?: unknown
  readonly content?: unknown
}
/** What the callee has told so far: the first answer to each question that makes sense. */
const toldIn = (messages: ReadonlyArray<Said>): Readonly<Partial<Record<Question, string | number>>> => {
  const told: Partial<Record<Question, string | number>> = {}
  let asked: Question | undefined
  for (const { content, role } of messages) {
    if (role === "assistant") asked = askedIn(String(content)) ?? asked
    if (role === "user" && asked !== undefined) {
      const value = understoodAs[asked](plainWords(String(content)))
      if (value !== undefined) told[asked] ??= value
    }
  }
  return told
}

/** A server without a key, to the end of the test. Returns its settings, and whether any request had credentials. */
export const startKeylessModel = async (t: Test) => {
  const emulator = await OpenAiEmulator.start({
    answer: ({ messages = [], tools = [] }) => {
      const offered = tools.map((tool) => String(tool.function?.name))
      const told = toldIn(messages)
      if (offered.includes("save_variables")) {
        const { whose: _, ...variables } = told
        return { calls: [{ name: "save_variables", arguments: [JSON.stringify(variables)] }] }
      }
      const line = /Say: "([^"]*)"/.exec(String(messages[0]?.content))?.[1] ?? ""
      const asked = askedIn(line)
      const last = messages.at(-1)
      const value = asked === undefined || last?.role !== "user" ? undefined : understoodAs[asked](plainWords(String(last.content)))
      const call = asked === undefined || value === undefined ? undefined : edgeOf(asked, value)
      if (call !== undefined && offered.includes(call)) return { calls: [{ name: call, arguments: ["{}"] }] }
      return { text: [last?.role === "user" && asked !== undefined ? "I did not understand that. " : "", line] }
    }
  })
  t.teardown(() => emulator.stop())
  return {
    settings: { provider: "openai", base_url: emulator.url, model: "emulated" },
    hasCredentials: () =>
      emulator.requests.some(({ headers }) => headers["authorization"] !== undefined || headers["api-key"] !== undefined)
  }
}
