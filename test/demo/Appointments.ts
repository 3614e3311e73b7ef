/** The demo's agent that holds conversations, and its callees: what each of them answers, and what must result from it. */
import { checkIn } from "#adapters/voice/embedded/lines.ts"
import { edge, extracted, graph, node } from "#core/agent/templates/parts.ts"
import type { JsonObject } from "#core/Json.ts"
import { carrierOf } from "#test/emulators/hostedCarriers.ts"
import type { Provider } from "./Callees.ts"

/** What a callee does each time they have heard this sentence of the agent. */
export interface Answer {
  readonly hears: string
  readonly says?: string
  readonly presses?: string
  /** Does not let the agent finish the sentence. */
  readonly interrupts?: true
}

export interface Conversation {
  readonly title: string
  readonly number: string
  readonly firstName: string
  readonly answers: ReadonlyArray<Answer>
  readonly expected: {
    readonly node: string
    readonly disposition: string
    readonly variables: Readonly<Record<string, string>>
    readonly optsOut?: true
  }
}

const appointment = { appointment_date: "Tuesday", appointment_time: "ten" }

const reminder = (date: string, time: string): string => `Your appointment at the clinic by the old market square is on ${date} at ${time}.`
const suits = "Does that suit you?"
const which = "Which day and time would suit you better?"
const office = "At which phone number can the office reach you?"
const isRight = "Is that right?"
/** The last word of every conversation. */
export const goodbye = "Goodbye."
/** A callee who interrupts the agent does not hear this question. */
export const whenInterrupted = suits

const says = (line: string, isInterruptible = true): JsonObject => ({
  prompt: `Say: "${line}"`,
  allow_interrupt: isInterruptible,
  add_global_prompt: false
})

export const definition: JsonObject = graph(
  [
    node("start", "startCall", [0, 0], {
      name: "Appointment",
      greeting_type: "text",
      greeting: `Hello {{first_name}}, this is the Trunkline demo. ${reminder("{{appointment_date}}", "{{appointment_time}}")} ${suits}`,
      ...says(suits)
    }),
    node("day", "agentNode", [1, 0], {
      name: "Another day",
      ...says(which),
      ...extracted("What suits better.", { name: "wished_time", type: "string", prompt: "The day and time that would suit the callee." })
    }),
    node("number", "agentNode", [2, 0], {
      name: "Number",
      ...says(office),
      ...extracted("The number.", { name: "phone", type: "string", prompt: "The phone number, as digits." })
    }),
    node("confirmed", "endCall", [1, 1], {
      name: "Confirmed",
      ...says(`Thank you. We will see you on {{appointment_date}} at {{appointment_time}}. ${goodbye}`, false)
    }),
    node("moved", "endCall", [3, 0], {
      name: "To be moved",
      ...says(`Thank you. The office will call you to confirm {{gathered_context.wished_time}}. ${goodbye}`, false)
    })
  ],
  [
    edge("start", "confirmed", "Confirmed", "The callee says that the appointment suits."),
    edge("start", "day", "Wants another time", "The callee cannot come then and wants another day or time."),
    edge("day", "number", "Time named", "The callee has named a day and a time."),
    edge("number", "moved", "Number told", "The callee has told the number.")
  ]
)

/** Spoken numbers are read back; pressed ones are not. */
const namesNumber = (text: string): ReadonlyArray<Answer> => [
  { hears: office, says: text },
  { hears: isRight, says: "yes that is right" }
]
const moved = (wished_time: string, phone: string) => ({
  node: "To be moved",
  disposition: "user_qualified",
  variables: { wished_time, phone }
})

/** These numbers are not in the large campaign's list. At the emulators, such a callee stays until the agent hangs up. */
const numberOf = (index: number): string => `+1555${9001 + index}017`

const all: ReadonlyArray<Omit<Conversation, "number">> = [
  {
    title: "asks for another day",
    firstName: "Barbara",
    answers: [
      { hears: suits, says: "no I need another day" },
      { hears: which, says: "on friday at three in the afternoon" },
      ...namesNumber("five five five zero one two three")
    ],
    expected: moved("friday at 3:00 pm", "5550123")
  },
  {
    title: "interrupts the agent",
    firstName: "Tim",
    answers: [
      { hears: reminder(appointment.appointment_date, appointment.appointment_time), says: "sorry could we move it", interrupts: true },
      { hears: suits, says: "sorry could we move it" },
      { hears: which, says: "thursday at two in the afternoon" },
      ...namesNumber("five five five zero one four seven")
    ],
    expected: moved("thursday at 2:00 pm", "5550147")
  },
  {
    title: "presses the number",
    firstName: "Grace",
    answers: [
      { hears: suits, says: "not really I need a different day" },
      { hears: which, says: "monday at nine in the morning please" },
      { hears: office, presses: "5550198#" }
    ],
    expected: moved("monday at 9:00 am", "5550198")
  },
  {
    title: "agrees",
    firstName: "Ada",
    answers: [{ hears: suits, says: "yes that suits me" }],
    expected: { node: "Confirmed", disposition: "user_qualified", variables: {} }
  },
  {
    title: "opts out",
    firstName: "Edsger",
    answers: [{ hears: suits, says: "please do not call me again" }],
    expected: { node: "Appointment", disposition: "user_disqualified", variables: {}, optsOut: true }
  }
]

/** Leaves out callees who press keys if the carrier does not report keys. The first conversation is the longest one, and is shown. */
export const conversationsThrough = (provider: Provider): ReadonlyArray<Conversation> =>
  all
    .map((one, index) => ({ ...one, number: numberOf(index) }))
    .filter(
      ({ answers }) =>
        provider === "ari" || carrierOf(provider).tellsKeys !== false || answers.every(({ presses }) => presses === undefined)
    )

export const csvOf = (conversations: ReadonlyArray<Conversation>): string =>
  [
    ["phone_number", "first_name", ...Object.keys(appointment)],
    ...conversations.map(({ firstName, number }) => [number, firstName, ...Object.values(appointment)]),
    []
  ]
    .map((fields) => fields.join(","))
    .join("\n")

/** The agent's sentences that callees listen for. */
export const sentencesHeard = (conversations: ReadonlyArray<Conversation>): ReadonlyArray<string> => [
  ...new Set([...conversations.flatMap(({ answers }) => answers.map(({ hears }) => hears)), goodbye, checkIn])
]
/** Everything that callees may say. */
export const sentencesSaid = (conversations: ReadonlyArray<Conversation>): ReadonlyArray<string> => [
  ...new Set(conversations.flatMap(({ answers }) => answers.flatMap(({ says }) => says ?? [])))
]
