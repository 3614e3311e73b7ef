/** How the built-in model understands numbers, dates, times and names, and from which turn it takes a variable. */
import fc from "fast-check"
import t from "tap"
import type { ExtractedVariable } from "#core/model/LanguageModel.ts"
import { forAll } from "#test/support/forAll.ts"
import { agent, callee, keys, values, variable } from "./embeddedScene.ts"

const check = (one: ExtractedVariable, answers: Readonly<Record<string, unknown>>) =>
  t.test(`${one.name} (${one.type})`, async (t) => {
    for (const [text, value] of Object.entries(answers))
      t.strictSame(values([one], agent("Go on?"), callee(text)), value === undefined ? {} : { [one.name]: value }, text)
  })

check(variable("agreed", "boolean"), {
  yes: true,
  "no thank you": false,
  "no problem": true,
  "I don't think so": false,
  "not sure": undefined,
  "my dog is right outside the window": undefined
})
check(variable("guests", "number"), {
  five: 5,
  "there will be twenty three of us": 23,
  "a hundred and five": 105,
  "two thousand four hundred": 2400,
  "1,200": 1200,
  "two point five": 2.5,
  "no, I meant five": 5,
  "four, no, five": 5,
  "four, sorry, five": 5,
  "not four but five": 5,
  "actually make that six": 6,
  "between four and five": undefined,
  "two kids and three guests": 3,
  "a few": undefined,
  "how about five": undefined,
  "I have been waiting at home for five days now and nobody came to repair anything": undefined
})
check(variable("account_number", "string"), {
  "four seven one one": "4711",
  "double four triple one": "44111",
  "oh seven oh five": "0705",
  "4711": "4711",
  "it's forty two seventeen": "4217",
  "one two three, no, one two four": "124",
  "oh well": undefined
})
check(variable("visit_date", "string"), {
  "on friday please": "friday",
  "next tuesday": "next tuesday",
  "the fifth of march": "march 5",
  "March twenty first": "march 21",
  "april 3rd": "april 3",
  "the day after tomorrow": "the day after tomorrow",
  "friday, no, saturday": "saturday",
  "I may come": undefined,
  "the day is nice": undefined
})
check(variable("visit_time", "string"), {
  "three pm": "3:00 pm",
  "at half past three": "3:30",
  "quarter to one": "12:45",
  "3:30 p.m.": "3:30 pm",
  "three thirty in the afternoon": "3:30 pm",
  noon: "12:00 pm",
  "eight o'clock in the morning": "8:00 am",
  "at 15:45": "15:45",
  "twenty past six": "6:20",
  "no I meant four pm": "4:00 pm"
})
check(variable("callback_at", "string", "When to call back"), {
  "tomorrow at half past three": "tomorrow at 3:30",
  "friday at four in the afternoon": "friday at 4:00 pm",
  "at five": "5:00",
  "next monday": "next monday"
})
check(variable("first_name", "string"), {
  "my name is anna": "Anna",
  "this is Anna Maria Lopez": "Anna Maria Lopez",
  Anna: "Anna",
  "Anna speaking": "Anna",
  yes: undefined,
  "who wants to know": undefined,
  "it's not a good time": undefined
})
check(variable("complaint", "string", "What went wrong"), {
  "The delivery came late.": "The delivery came late.",
  "sorry, what?": undefined,
  uh: undefined,
  "why do you ask": undefined,
  goodbye: undefined
})

const ones =
  "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen".split(
    " "
  )
const tens = "twenty thirty forty fifty sixty seventy eighty ninety".split(" ")
const spelled = (number: number): string => {
  if (number < 20) return ones[number] ?? ""
  if (number < 100) return `${tens[Math.floor(number / 10) - 2]}${number % 10 === 0 ? "" : ` ${ones[number % 10]}`}`
  const [size, name] = number < 1000 ? [100, "hundred"] : [1000, "thousand"]
  return `${spelled(Math.floor(number / size))} ${name}${number % size === 0 ? "" : ` ${spelled(number % size)}`}`
}

t.test("every number and every run of digits is understood", async (t) => {
  const number = fc.integer({ min: 0, max: 999_999 })
  forAll(number, (one) => values([variable("n", "number")], callee(`it is ${spelled(one)}`))?.["n"] === one)
  const digits = fc.array(fc.integer({ min: 0, max: 9 }), { minLength: 2, maxLength: 12, size: "max" })
  const spoken = (run: ReadonlyArray<number>) => run.map((digit) => ones[digit]).join(" ")
  forAll(digits, (run) => values([variable("pin", "string")], callee(spoken(run)))?.["pin"] === run.join(""))
  t.pass()
})

t.test("each variable is taken from the answer to its question", async (t) => {
  const guests = variable("guests", "number", "How many guests")
  const rooms = variable("rooms", "number", "How many rooms")
  const talk = [agent("How many guests?"), callee("five"), agent("And how many rooms?"), callee("two")]
  t.strictSame(values([guests, rooms], ...talk), { guests: 5, rooms: 2 })
  t.strictSame(values([guests], ...talk, agent("How many guests again?"), callee("no, I meant six")), { guests: 6 }, "the latest counts")
  t.strictSame(values([variable("pin", "string", "The code")], agent("Your code?"), keys("4711")), { pin: "4711" })
})

t.test("a number that corrects one that was read back replaces it", async (t) => {
  const account = variable("account_number", "string")
  const back = (digits: string) => agent(`I heard ${digits}. Is that right?`)
  const first = [agent("What is your account number?"), callee("four seven double one"), back("4, 7, 1, 1")]
  t.strictSame(values([account], ...first, callee("yes")), { account_number: "4711" })
  t.strictSame(values([account], ...first, callee("no, four seven one two"), back("4, 7, 1, 2"), callee("yes")), { account_number: "4712" })
  const amount = variable("amount", "number", "The amount")
  const pay = (digits: string) => agent(`Just to confirm: Pay, and I heard ${digits}. Is that right?`)
  const paid = [
    agent("What amount would you like to pay?"),
    callee("fifteen"),
    pay("1, 5"),
    callee("no, fifty"),
    pay("5, 0"),
    callee("yes")
  ]
  t.strictSame(values([amount], ...paid), { amount: 50 })
})

t.test("a corrected number replaces the first one before the question is repeated", async (t) => {
  const number = variable("customer_number", "string", "The customer number, as digits.")
  const before = [
    agent("What is your customer number?"),
    callee("four seven nine three"),
    agent("I heard 4, 7, 9, 3. Is that right?"),
    callee("no")
  ]
  const after = [callee("four seven nine two"), agent("I heard 4, 7, 9, 2. Is that right?"), callee("yes that is right")]
  for (const text of ["All", "All right. What"]) {
    const cutOff = { _tag: "Assistant", text, calls: [], wasInterrupted: true } as const
    t.strictSame(values([number], ...before, cutOff, ...after), { customer_number: "4792" }, text)
  }
  t.strictSame(values([number], ...before, agent("Are you still there?"), ...after), { customer_number: "4792" }, "after a silence")
})

t.test("a yes that only confirms is not a value", async (t) => {
  const keeps = variable("keeps", "boolean", "Keep the appointment")
  const talk = [agent("Do you keep the appointment?"), callee("no"), agent("Just to confirm: Cancel. Is that right?"), callee("yes")]
  t.strictSame(values([keeps], ...talk), { keeps: false })
})
