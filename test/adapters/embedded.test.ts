/** The built-in model: what it says, what it understands, and above all what it does not take for an answer. */
import fc from "fast-check"
import t from "tap"
import { grammarOf } from "#adapters/voice/embedded/grammar.ts"
import { sayOf } from "#adapters/voice/embedded/lines.ts"
import { replyTo } from "#adapters/voice/embedded/Reply.ts"
import { forAll } from "#test/support/forAll.ts"
import { agent, callee, edge, keys, nodeOf, outcome, requestOf, values, variable } from "./embeddedScene.ts"

const question = "Would you like to come on Friday?"
const yesNo = nodeOf({ edges: [edge("Interested", "The caller says yes"), edge("Not interested", "The caller declines", "endCall")] })
const apology = `Sorry, I did not get that. ${question}`
/** What stands between the bars. */
const sentences = (text: string): ReadonlyArray<string> => text.split("|").map((one) => one.trim())
const ask = (text: string, node = yesNo) => outcome(node, agent(question), callee(text))

t.test("what it says in a node", async (t) => {
  const check = (expected: string, node: Parameters<typeof nodeOf>[0]) => t.equal(sayOf(nodeOf(node)), expected)
  check("Own words.", { prompt: 'Say: "Other."', embedded: { nodes: { n: { say: "Own words." } } } })
  check("Hello Anna. How are you?", { prompt: 'Greet the caller. Say: "Hello Anna." Then: "How are you?"' })
  check("Could you tell me about your order?", { prompt: "Ask the caller about their order." })
  check("Could you tell me whether you want a table?", { prompt: "You are friendly.\nAsk the customer if they want a table." })
  check("Could you spell your name?", { prompt: "Ask them to spell their name." })
  check("Could you confirm your address?", { prompt: "Confirm their address." })
  check("The office is closed.", { prompt: "Tell the caller that the office is closed." })
  check("Let me check one thing: Question.", { prompt: "Be kind." })
  check("Thank you for your time. Goodbye.", { prompt: "Be kind.", type: "endCall" })
  check("Thank you, Anna.", { prompt: 'Say "Thank you, Anna."', type: "endCall" })
})

t.test("yes and no", async (t) => {
  for (const text of sentences(`
    Yes. | yeah | Yes please | sure, why not | No problem! | Of course | I think so | yes I would like to |
    Uh, yes, Friday at three works | that's fine | Yep that works for me | I'd love to
  `))
    t.equal(ask(text), "interested", text)
  for (const text of sentences(`
    No. | nope | No thanks | not really | I don't think so | of course not | no I can't | Yes, no, wait, no |
    I am not interested | that is not right | I would not say yes | definitely not | don't need it thank you
  `))
    t.equal(ask(text), "not_interested", text)
})

/** None of these is an answer to the question. */
const unforeseen = [
  "",
  ...sentences(`
  yes minister is my favourite show | my dog is right outside the window | the weather is fine in Paris today |
  is yes the answer to everything | I was sure the train had left the station |
  he said the right honourable gentleman never calls | who is this | what company are you with |
  how did you get my number | maybe | I'm not sure | it depends on the price | yes and no | hello | uh |
  the quick brown fox jumps over the lazy dog | my cousin said no to the job in Boston last summer |
  there was a correct answer on the exam yesterday | we had no rain at the lake for weeks | …
`)
]
t.test("sentences that are not answers are not taken for any", async (t) => {
  for (const text of unforeseen) t.equal(ask(text), apology, text)
  const confirming = nodeOf({ edges: [edge("Cancel", "The caller wants to cancel"), edge("Keep", "The caller confirms")] })
  for (const text of [
    "do not cancel it",
    "the concert was cancelled by the city council",
    "my sister cancelled her subscription to the paper"
  ])
    t.match(outcome(confirming, agent("Shall I cancel it?"), callee(text)), /^(Sorry|keep)/, text)
})

t.test("sentences of unrelated words are never an answer", async (t) => {
  const words =
    "table river music yellow window garden train mountain letter kitchen doctor summer coffee bridge paper house school winter forest ocean bread chair".split(
      " "
    )
  const sentence = fc.array(fc.constantFrom(...words), { minLength: 1, maxLength: 12, size: "max" }).map((some) => some.join(" "))
  const data = nodeOf({ edges: yesNo.edges, variables: [variable("guests", "number"), variable("day", "string", "The date")] })
  forAll(sentence, (text) => ask(text) === apology && ask(text, data) === apology)
  const opening = fc.tuple(fc.constantFrom("yes", "no", "right", "fine", "later"), fc.constantFrom(...words), fc.constantFrom(...words))
  forAll(opening, (some) => ask(some.join(" ")) === apology)
  t.pass()
})

t.test("any text is answered, always in the same way", async (t) => {
  const text = fc.oneof(
    fc.string({ unit: "binary", maxLength: 300, size: "max" }),
    fc
      .array(fc.constantFrom(..."no not yes half double oh twenty past point may the 12:75 99999999999999999999".split(" ")), {
        maxLength: 12,
        size: "max"
      })
      .map((some) => some.join(" "))
  )
  const node = nodeOf({
    edges: yesNo.edges,
    variables: [
      variable("a", "number"),
      variable("phone", "string"),
      variable("time", "string"),
      variable("b", "boolean"),
      variable("name", "string")
    ]
  })
  forAll(text, fc.boolean(), (said, isKeyed) => {
    const messages = [agent(question), isKeyed ? keys(said) : callee(said)]
    const [turn, again] = [replyTo(requestOf(node, messages)), replyTo(requestOf(node, messages))]
    const extraction = replyTo(requestOf(node, messages, { purpose: "extract" }))
    return (
      (turn.text.trim() !== "" || turn.call !== undefined) &&
      JSON.stringify(turn) === JSON.stringify(again) &&
      extraction.call !== undefined
    )
  })
  const slow = "no ".repeat(700)
  t.equal(ask(slow), "not_interested")
})

t.test("edges of other meanings", async (t) => {
  const many = nodeOf({
    edges: [
      edge("Good time", "It is a good time to talk"),
      edge("Busy", "The caller is busy and wants to be called back"),
      edge("Wrong person", "This is not the right person", "endCall"),
      edge("Paid", "They have already paid"),
      edge("Reschedule", "They want another day"),
      edge("Human", "They want to speak to a human")
    ]
  })
  const answers: ReadonlyArray<readonly [string, string]> = [
    ["yes go ahead", "good_time"],
    ["can you call me back later", "busy"],
    ["no I'm driving", "busy"],
    ["you have the wrong number", "wrong_person"],
    ["there is nobody by that name here", "wrong_person"],
    ["I already paid that last week", "paid"],
    ["could we reschedule please", "reschedule"],
    ["I want to talk to a real person", "human"],
    ["no", "Sorry, I did not get that. Is now a good time?"]
  ]
  for (const [text, tool] of answers) t.equal(outcome(many, agent("Is now a good time?"), callee(text)), tool, text)
})

t.test("phrases of the author", async (t) => {
  const seasons = nodeOf({
    edges: [edge("Winter", 'They say "skiing" or "snow"'), edge("Summer", "They like it warm", "agentNode", ["the beach", "swimming"])]
  })
  t.equal(ask("I'd love the beach", seasons), "summer")
  t.equal(ask("Skiing!", seasons), "winter")
  t.equal(ask("either snow or swimming", seasons), apology, "two edges at once count as none")
  t.equal(ask("my uncle moved to the beach house after retirement last year", seasons), apology)
})

t.test("keys", async (t) => {
  const press = (key: string, embedded = {}) =>
    outcome(nodeOf({ edges: [...yesNo.edges, edge("Human", "A human")], embedded }), agent(question), keys(key))
  t.equal(press("1"), "interested")
  t.equal(press("2"), "not_interested")
  t.equal(press("0"), "human")
  t.equal(press("7"), apology)
  t.equal(press("9", { edges: { Interested: { dtmf: "9" } } }), "interested")
  const collecting = nodeOf({ edges: [edge("Given", "The number was given")], variables: [variable("account_number", "string")] })
  t.equal(outcome(collecting, agent("Your account number?"), keys("4711")), "given", "keys are not read back")
})

t.test("what is understood in every node", async (t) => {
  t.equal(ask("Stop calling me!"), "opt_out")
  t.equal(ask("please take me off your list"), "opt_out")
  t.equal(ask("Could you repeat that?"), question)
  t.equal(ask("What?"), question)
  t.equal(ask("OK, bye"), "not_interested", "the first edge that ends the call")
  t.equal(ask("I want to speak to a human"), `I am an automated assistant, and I cannot connect you. ${question}`)
  const transfer = {
    name: "front_desk",
    description: "Transfers to a colleague",
    parameters: { type: "object", required: ["reason"], properties: { reason: {} } }
  }
  const request = requestOf(yesNo, [agent(question), callee("a human please")])
  t.match(replyTo({ ...request, tools: [...request.tools, transfer] }).call, {
    name: "front_desk",
    arguments: { reason: "The callee asked for a person" }
  })
})

t.test("answers that are not understood", async (t) => {
  const options = "Sorry, I did not get that. For interested, press 1. For not interested, press 2."
  const at = (misunderstood: number, ...said: ReadonlyArray<string>) =>
    outcome(nodeOf({ ...yesNo, misunderstood }), ...[question, ...said].flatMap((line) => [agent(line), callee("purple")]))
  t.equal(at(0), apology)
  t.equal(at(1, apology), options)
  t.equal(at(2, apology, options), "not_interested", "the first edge that ends the call")
  t.equal(at(2), apology, "after a question that was repeated on request")
  const fallback = nodeOf({ ...yesNo, misunderstood: 2, embedded: { fallback_edge: "Interested" } })
  t.equal(outcome(fallback, ...[question, apology, options].flatMap((line) => [agent(line), callee("purple")])), "interested")
})

t.test("nodes with one edge", async (t) => {
  const told = nodeOf({ prompt: 'Say: "I will tell you something."', edges: [edge("Next", "Always")] })
  t.match(replyTo(requestOf(told, [])), { text: "I will tell you something.", call: { name: "next" } }, "it continues after speaking")
  const asks = nodeOf({ edges: [edge("Next", "Always")] })
  t.match(replyTo(requestOf(asks, [])), { text: question, call: undefined })
  t.equal(ask("whatever you like", asks), "next")
  t.equal(ask("who are you", asks), apology)
  const named = nodeOf({ edges: [edge("Next", "The caller gave a date")], variables: [variable("visit_date", "string")] })
  t.equal(ask("on the fifth of March", named), "next")
  t.equal(ask("I have a dog", named), apology)
})

t.test("irreversible edges are confirmed first", async (t) => {
  const node = nodeOf({ edges: [edge("Cancel appointment", "They want to cancel"), edge("Keep", "They confirm it")] })
  const confirm = "Just to confirm: Cancel appointment. Is that right?"
  const reply = (text: string) => outcome(node, agent(question), callee("cancel"), agent(confirm), callee(text))
  t.equal(ask("please cancel my appointment", node), confirm)
  t.equal(reply("yes"), "cancel_appointment")
  t.equal(reply("no"), `All right. ${question}`)
  t.equal(reply("my dog is right outside the window"), confirm)
  t.equal(outcome(node, agent(question), keys("1")), confirm, "keys too")
  t.equal(outcome(node, agent(confirm), keys("1")), "cancel_appointment")
  t.equal(ask("cancel", nodeOf({ ...node, embedded: { edges: { "Cancel appointment": { confirm: false } } } })), "cancel_appointment")
  t.equal(
    ask("yes", nodeOf({ ...yesNo, embedded: { edges: { Interested: { confirm: true } } } })),
    "Just to confirm: Interested. Is that right?"
  )
})

t.test("a plain yes or no answers the question that was asked, and no other", async (t) => {
  const remind = nodeOf({
    prompt: 'Say: "Does Monday at ten still suit you?"',
    edges: [
      edge("Confirmed", "The appointment suits", "endCall"),
      edge("Wrong person", "It is somebody else", "endCall"),
      edge("Cancel", "They cancel")
    ]
  })
  const own = "Does Monday at ten still suit you?"
  const identity = agent("Hello, this is Acme. Am I speaking with Ada?")
  t.equal(outcome(remind, identity, callee("yes")), own, "saying who is on the phone does not confirm an appointment")
  t.equal(outcome(remind, agent("Is this Ada Lovelace?"), callee("yes, that's me")), own)
  t.equal(outcome(remind, identity, callee("no")), "wrong_person")
  t.equal(outcome(remind, identity, callee("no, wrong number")), "wrong_person")
  t.equal(outcome(remind, identity, callee("yes"), agent(own), callee("yes")), "confirmed")
  const stillThere = agent("Are you still there?")
  t.equal(outcome(remind, agent(own), stillThere, callee("yes")), own, "saying that they are still there does not confirm it either")
  t.equal(outcome(remind, agent(own), stillThere, callee("yes"), agent(own), callee("yes")), "confirmed")
  const confirm = "Just to confirm: Cancel. Is that right?"
  t.equal(outcome(remind, agent(own), callee("cancel"), agent(confirm), stillThere, callee("yes")), confirm)
  const cut = (text: string): ReturnType<typeof agent> => ({ _tag: "Assistant", text, calls: [], wasInterrupted: true })
  t.equal(
    outcome(remind, cut("Hello, this is the assistant of"), callee("yes")),
    own,
    "nor does an answer to a question that was not heard"
  )
  t.equal(outcome(remind, cut("Hello. Does Monday at"), callee("yes")), "confirmed", "but people answer before it is over")
  t.equal(outcome(remind, identity, callee("cancel it please")), confirm, "more than yes or no is understood at any time")
})

t.test("speech that was not understood is not an answer, even where any answer will do", async (t) => {
  const open = nodeOf({ edges: [edge("Answered", "They answered")], variables: [variable("reason", "string", "The reason")] })
  t.equal(outcome(open, agent(question), callee("it was too slow")), "answered")
  t.equal(outcome(open, agent(question), callee("(not understood)")), apology)
  t.equal(outcome(nodeOf({ edges: open.edges }), agent(question), callee("(not understood)")), apology)
  t.strictSame(values(open.variables, agent(question), callee("(not understood)")), {})
})

t.test("spoken digits are read back", async (t) => {
  const node = nodeOf({ edges: [edge("Given", "The caller gave the number")], variables: [variable("account_number", "string")] })
  const question = agent("What is your account number?")
  const back = "I heard 4, 7, 1, 1. Is that right?"
  t.equal(outcome(node, question, callee("four seven double one")), back)
  t.equal(outcome(node, question, callee("four seven double one"), agent(back), callee("yes")), "given")
  t.equal(
    outcome(node, question, callee("four seven double one"), agent(back), callee("no, four seven one two")),
    "I heard 4, 7, 1, 2. Is that right?"
  )
  t.match(outcome(node, question, callee("four seven double one"), agent(back), callee("no")), /^All right\. /)
})

t.test("spoken numbers are read back before an irreversible edge, however short they are", async (t) => {
  const amount = variable("amount", "number", "The amount in dollars")
  const account = variable("account_number", "string")
  const pay = edge("Pay", "The caller pays the amount")
  const node = nodeOf({ edges: [pay], variables: [amount] })
  const asked = agent("What amount would you like to pay?")
  const back = "Just to confirm: Pay, and I heard 1, 5. Is that right?"
  t.equal(outcome(node, asked, callee("I pay fifteen dollars")), back)
  const said = [asked, callee("I pay fifteen dollars"), agent(back)]
  t.equal(outcome(node, ...said, callee("yes")), "pay")
  t.equal(outcome(node, ...said, callee("yes, fifteen")), "pay")
  t.match(outcome(node, ...said, callee("no")), /^All right\. /)
  const corrected = "Just to confirm: Pay, and I heard 5, 0. Is that right?"
  t.equal(outcome(node, ...said, callee("no, fifty")), corrected)
  t.equal(outcome(node, ...said, callee("yes, fifty")), corrected, "which is not a yes to fifteen")
  t.equal(outcome(node, ...said, callee("no, fifty"), agent(corrected), callee("yes")), "pay")
  t.equal(outcome(node, ...said, keys("1")), "pay")
  t.equal(outcome(node, asked, callee("I pay two point five")), "Just to confirm: Pay, and I heard 2.5. Is that right?")
  const code = nodeOf({ edges: [pay], variables: [account] })
  t.equal(
    outcome(code, agent("Your account number?"), callee("I pay from four two")),
    "Just to confirm: Pay, and I heard 4, 2. Is that right?"
  )
  t.equal(outcome(code, agent("Your account number?"), keys("42")), "Just to confirm: Pay. Is that right?", "keys are certain")
})

t.test("purposes other than a turn", async (t) => {
  const reply = (purpose: "check_in" | "farewell" | "introduce") => replyTo(requestOf(yesNo, [agent(question)], { purpose, tools: [] }))
  t.strictSame(reply("check_in"), { text: "Are you still there?" })
  t.strictSame(reply("farewell"), { text: "Thank you for your time. Goodbye." })
  t.match(reply("introduce").text, /^Hello/)
})

t.test("the grammar of a node", async (t) => {
  const node = nodeOf({ edges: [edge("Winter", 'They say "going skiing"')], variables: [variable("day", "string", "The date")] })
  const grammar = grammarOf(node)
  t.equal(grammarOf(node), grammar)
  t.match(grammar, /^#JSGF V1\.0;\ngrammar node;\npublic <answer> = /)
  for (const phrase of ["going skiing", "stop calling me", "yes", "<date>"]) t.ok(grammar.includes(phrase), phrase)
  const named = [...grammar.matchAll(/<(\w+)>/g)].map(([, name]) => name)
  for (const name of new Set(named)) t.match(grammar, new RegExp(`<${name}> = `), `${name} is defined`)
  t.notOk(/<digit>/.test(grammarOf(yesNo)))
})
