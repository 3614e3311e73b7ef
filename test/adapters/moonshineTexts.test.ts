/** What is made of Moonshine's texts, and which model writes them: rules without audio. */
import t from "tap"
import { grammarOf } from "#adapters/voice/embedded/grammar.ts"
import { expectedOf } from "#adapters/voice/moonshine/Expected.ts"
import { ledIn, leadInOf, leadInText, withoutLeadIn } from "#adapters/voice/moonshine/LeadIn.ts"
import { readingOf } from "#adapters/voice/moonshine/Reading.ts"
import { nearest } from "#adapters/voice/moonshine/Snapping.ts"
import { modelFor } from "#adapters/voice/moonshine/Transcriber.ts"
import { spoken, uniform } from "#adapters/voice/moonshine/Writing.ts"
import { encode, silence } from "#core/audio/Mulaw.ts"
import { type AskingNodeName, askingNodes } from "#test/support/hearing/nodes.ts"

t.test("given texts as models write them, then they are made uniform", async (t) => {
  const check = (written: string, expected: string) => t.equal(uniform(written), expected, written)
  check("I'll come to-morrow.", "I'll come tomorrow.")
  check("Good-bye!", "Goodbye!")
  check("Good bye.", "Goodbye.")
  check("Nine-zero-two-one.", "Nine zero two one.")
  check("Twenty-five of us.", "Twenty-five of us.")
  check("Mr. Dashwood’s wife", "Mister Dashwood's wife")
  check("[Music] (coughs) ♪", "")
  check(" ... ", "")
  check("Yes.  I am.", "Yes. I am.")
})

t.test("given figures, then they are turned into the words that were said", async (t) => {
  const check = (written: string, expected: string) => t.equal(spoken(written), expected, written)
  check("March 5th", "March fifth")
  check("the 21st", "the twenty first")
  check("on the 30th", "on the thirtieth")
  check("25 guests", "twenty five guests")
  check("110", "one hundred ten")
  check("4711", "four seven one one")
  check("007", "zero zero seven")
  check("at 3pm", "at three pm")
  check("no figures", "no figures")
})

t.test("given a text behind the lead-in, then the lead-in is cut off", async (t) => {
  const check = (text: string, expected: string | undefined) => t.equal(withoutLeadIn(text, { text: leadInText }), expected, text)
  check("Number five. The next one is yes.", "yes.")
  check("Number five, the next one is... Tuesday", "Tuesday")
  check("Number five. The next one is", "")
  check("number five the next one is 25", "25")
  check("Number nine. The next one is yes.", undefined)
  check("Yes.", undefined)
  check("", undefined)
})

t.test("given the lead-in with silence around it, then only its voice is put in front of what was said", async (t) => {
  const voice = new Int16Array(800).fill(4000)
  const quiet = new Uint8Array(4000).fill(silence)
  const { audio } = leadInOf(Buffer.concat([quiet, encode(voice), quiet]))
  t.equal(Buffer.from(audio, "base64").length, voice.length)
  const all = ledIn(voice, voice)
  const starts = all.findIndex((sample) => sample !== 0)
  const pause = all.indexOf(0, starts)
  const again = all.findIndex((sample, at) => at > pause && sample !== 0)
  t.equal(pause - starts, voice.length)
  t.ok(again - pause < 1600, "then the pause is that of a speaker")
  t.ok(all.length - again - voice.length < 2400, "then hardly any silence follows: with more of it, models stop too early")
})

const near = (at: AskingNodeName, text: string) => {
  const expected = expectedOf([], grammarOf(askingNodes[at].node))
  return expected === undefined ? undefined : nearest(expected, spoken(text))
}

t.test(
  "given what a model has heard where the node's grammar expects an answer, then the answer that sounds like it is found",
  async (t) => {
    const check = (at: AskingNodeName, text: string, expected: string) => t.equal(near(at, text)?.text, expected, text)
    check("guests", "Do.", "two")
    check("guests", "Or.", "four")
    check("guests", "Seven teams", "seventeen")
    check("guests", "25", "twenty five")
    check("date", "Do you stay.", "tuesday")
    check("date", "Marge 5th.", "march fifth")
    check("time", "Half past tree", "half past three")
    check("account", "Nine, zero, two, one, o", "nine zero two one oh")
    check("friday", "No same cute", "no thank you")
  }
)

t.test("given texts, then those that sound like an expected phrase are taken for it, and others are left alone", async (t) => {
  const phrases = ["yes", "no thank you", "call me back tomorrow"]
  const check = (text: string, expected: string, isAnswer: boolean) => {
    const found = nearest(expectedOf(phrases, undefined) ?? { steps: [] }, spoken(text))
    t.match(readingOf({ text, tokens: 3, nearest: found }, 1000), { text: expected, isAnswer, isUnclear: false }, text)
  }
  check("Yes.", "Yes.", true)
  check("No, thank you!", "No, thank you!", true)
  check("Call me back to Morrow.", "call me back tomorrow", true)
  check("No same cute.", "no thank you", true)
  check("The weather is nice.", "The weather is nice.", false)
  check("I have already paid the invoice.", "I have already paid the invoice.", false)
  t.equal(expectedOf([], undefined), undefined, "then nothing is expected without phrases")
  t.equal(expectedOf([], "no grammar"), undefined, "nor with a grammar that cannot be read")
})

t.test("given long sentences, then no run of digits and no date is found in them", async (t) => {
  for (const at of ["account", "phone", "move", "arrange"] as const) {
    const text = "the weather is nice today in the village"
    const reading = readingOf({ text, tokens: 8, nearest: near(at, text) }, 3000)
    t.strictSame(reading, { text, isAnswer: false, isUnclear: false }, at)
  }
})

t.test("given a grammar that uses a rule within itself, then any length is expected", async (t) => {
  const grammar = "#JSGF V1.0; public <digits> = <one> | <one> <digits>; <one> = one | /0.5/ [double] two;"
  const expected = expectedOf([], grammar)
  const text = "one two one double two one"
  t.strictSame(expected === undefined ? undefined : nearest(expected, text), { text, distance: 0 })
})

t.test("given more text than can have been said, then it is unclear what was said", async (t) => {
  const said = { text: "Thank you. Thank you. Thank you. Thank you.", nearest: undefined }
  t.strictSame(readingOf({ ...said, tokens: 12 }, 400), { text: "", isAnswer: false, isUnclear: true })
  t.match(readingOf({ ...said, tokens: 12 }, 2500), { text: said.text, isUnclear: false })
  t.match(readingOf({ text: "", tokens: 0, nearest: undefined }, 400), { isUnclear: true }, "and so it is without a text")
})

t.test("given two models, then the quicker one is used while utterances wait", async (t) => {
  const model = (name: string) => ({ name, modelConfig: {}, leadIn: undefined })
  const [careful, quick] = [model("base"), model("tiny")]
  t.equal(modelFor({ careful, quick }, 0), careful)
  t.equal(modelFor({ careful, quick }, 1), quick)
  t.equal(modelFor({ careful, quick: undefined }, 5), careful)
  t.equal(modelFor({ careful: undefined, quick }, 0), quick)
  t.equal(modelFor({ careful: undefined, quick: undefined }, 0), undefined)
})
