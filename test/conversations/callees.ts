/**
 * Any number of callees for the agent in `graph.ts`: what each answers, and where the conversation must end. Each says something unforeseen in at least
 * every fifth turn, some correct themselves, and all give the same answer again when they are asked again.
 */
import type { CalleeScript } from "#core/agent/regression/CalleeScript.ts"
import { readScripts } from "#core/agent/regression/readScripts.ts"
import type { JsonObject } from "#core/Json.ts"
import { seeded } from "#test/support/seeded.ts"

/** More often than any question is repeated, even on a busy machine. */
const timeAndAgain = 20

const context = { first_name: "Ada" }

/** Sentences that an agent that follows its graph cannot handle. */
const unforeseen = [
  "my neighbour has painted the fence green",
  "there is a squirrel on the roof of the garage",
  "the kettle has been whistling all morning",
  "our cat sleeps on top of the piano",
  "somebody left an umbrella in the hallway",
  "the trains were late because of the snow",
  "grandmother plays the trumpet on weekends",
  "the baker has a new kind of bread"
]
export const isUnforeseen = (text: string): boolean => unforeseen.includes(text)

const digitWords = ["zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine"]
const ordinals = ["second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth", "eleventh"]
const months = ["march", "april", "june", "august", "october"]

interface Step {
  readonly hears: string
  readonly says: string
  readonly times?: number
}
/** What a callee says in a part of the conversation, and what must result from it. */
interface Part {
  readonly callee: ReadonlyArray<Step>
  readonly variables: JsonObject
  readonly path: ReadonlyArray<string>
}
type Random = () => number

const oneOf = <A>(random: Random, some: ReadonlyArray<A>): A => some[Math.floor(random() * some.length)] as A // the list is never empty
const always = (hears: string, says: string): Step => ({ hears, says, times: timeAndAgain })
/** Says something unforeseen first, then the answer. */
const evasively = (random: Random, hears: string, says: string): ReadonlyArray<Step> => [
  { hears, says: oneOf(random, unforeseen) },
  always(hears, says)
]

const spoken = (digits: string): string => {
  const words = [...digits].map((digit) => digitWords[Number(digit)])
  return `${words.slice(0, 2).join(" ")} | ${words.slice(2).join(" ")}`
}
const readBack = (digits: string): string => `I heard ${[...digits].join(", ")}`

const reached: Part = {
  callee: [always("Am I speaking with Ada", "yes speaking")],
  variables: {},
  path: ["Reach the contact", "Customer number"]
}

const numberPart = (random: Random, isCorrected: boolean): Part => {
  const digits = Array.from({ length: 4 }, () => Math.floor(random() * 10)).join("")
  const first = isCorrected ? `${digits.slice(0, 3)}${(Number(digits.at(-1)) + 1) % 10}` : digits
  const correction = isCorrected ? [always(readBack(first), `no | ${spoken(digits)}`)] : []
  return {
    callee: [...correction, always(readBack(digits), "yes that is right"), ...evasively(random, "your customer number", spoken(first))],
    variables: { customer_number: digits },
    path: ["What is wanted"]
  }
}

const lastOf = (question: string, isAgreed: boolean, [yes, no]: readonly [string, string]): Omit<Part, "variables"> => ({
  callee: [always(question, isAgreed ? "yes please" : "no thank you")],
  path: [isAgreed ? yes : no]
})

const deliveryPart = (random: Random, isCorrected: boolean, isAgreed: boolean): Part => {
  const month = oneOf(random, months)
  const [day, other] = [oneOf(random, ordinals.slice(0, 5)), oneOf(random, ordinals.slice(5))]
  const boxes = 2 + Math.floor(random() * 7)
  const date = isCorrected ? `the ${other} of ${month} sorry I meant the ${day} of ${month}` : `the ${day} of ${month}`
  const count = isCorrected ? `${digitWords[boxes + 1]} no wait ${digitWords[boxes]}` : `${digitWords[boxes]} boxes`
  const last = lastOf("May we ring", isAgreed, ["Delivered with a ring", "Delivered quietly"])
  return {
    callee: [
      always("cancel it", "please deliver it"),
      always("which day", date),
      ...evasively(random, "empty boxes", count),
      ...last.callee
    ],
    variables: { delivery_date: `${month} ${ordinals.indexOf(day) + 2}`, boxes },
    path: ["Delivery date", "Boxes", "Doorbell", ...last.path]
  }
}

const collectionPart = (random: Random, isCorrected: boolean, isAgreed: boolean): Part => {
  const hour = 2 + Math.floor(random() * 7)
  const right = `${digitWords[hour]} in the afternoon`
  const time = isCorrected ? `${digitWords[hour + 1]} in the afternoon sorry I meant ${right}` : `at ${right}`
  const last = lastOf("Do you need", isAgreed, ["Collected by car", "Collected on foot"])
  return {
    callee: [always("cancel it", "I will collect it"), ...evasively(random, "what time", time), ...last.callee],
    variables: { collection_time: `${hour}:00 pm` },
    path: ["Collection time", "Parking", ...last.path]
  }
}

const cancellationPart = (random: Random, isAgreed: boolean): Part => {
  const last = lastOf("May we send", isAgreed, ["Cancelled with an offer", "Cancelled for good"])
  return {
    callee: [
      always("Just to confirm", "yes that is right"),
      ...evasively(random, "want to cancel it", "I want to cancel it"),
      ...last.callee
    ],
    variables: {},
    path: ["Another offer", ...last.path]
  }
}

type Way = (random: Random, isAgreed: boolean) => readonly [number: Part, rest: Part]
/** The paths that callees take in turn; every other callee says no to the last question. */
const ways: ReadonlyArray<Way> = [
  (random, isAgreed) => [numberPart(random, true), deliveryPart(random, false, isAgreed)],
  (random, isAgreed) => [numberPart(random, false), collectionPart(random, true, isAgreed)],
  (random, isAgreed) => [numberPart(random, true), cancellationPart(random, isAgreed)],
  (random, isAgreed) => [numberPart(random, false), deliveryPart(random, true, isAgreed)],
  (random, isAgreed) => [numberPart(random, true), collectionPart(random, false, isAgreed)]
]

const scriptOf = (at: number, random: Random): CalleeScript => {
  const [number, rest] = ways[at % ways.length]?.(random, at % 2 === 0) ?? []
  if (number === undefined || rest === undefined) throw new Error("there are no ways")
  const parts = [number, rest, reached]
  const script = {
    name: `callee ${at + 1}`,
    callee: parts.flatMap(({ callee }) => callee),
    expect: {
      path: [reached, number, rest].flatMap(({ path }) => path),
      variables: Object.assign({}, ...parts.map(({ variables }) => variables)),
      disposition: "user_qualified"
    }
  }
  const read = readScripts({ context, scripts: [script] })
  const [one] = "scripts" in read ? read.scripts : []
  if (one === undefined) throw new Error(`a callee cannot be read: ${JSON.stringify(read)}`)
  return one
}

/** The same callees for the same seed, which is also the first of their paths. */
export const calleesOf = (count: number, seed: number): ReadonlyArray<CalleeScript> => {
  const random = seeded(seed)
  return Array.from({ length: count }, (_, at) => scriptOf(at + seed, random))
}

/** Everything that the callees may say. */
export const sentencesOf = (scripts: ReadonlyArray<CalleeScript>): ReadonlyArray<string> => [
  ...new Set(scripts.flatMap(({ callee }) => callee.flatMap(({ act }) => (act._tag === "Says" ? [act.text] : []))))
]
