/** How a text is divided into the pieces in which it is spoken, and how their joints sound. */
import { Effect } from "effect"
import t from "tap"
import { fliteLayer } from "#test/support/flite.ts"
import { clauseIn, sentencesOf } from "#runtime/voice/Sentences.ts"
import { Tts } from "#runtime/voice/Tts.ts"

t.test("sentences", async (t) => {
  const check = (...pieces: ReadonlyArray<string>) => t.strictSame(sentencesOf(pieces.join(" ")), pieces)
  check("Hello Ada.", "This is the clinic.", "Your appointment is tomorrow.")
  check("Hello Ada!", "Are you there?!", "We have news…", "Good news.")
  check("no end at all")
  check("Dr. Smith and Mrs. J. Doe see you at 12 Main St. near St. Mary.", "Please come.")
  check("It costs 3.5 dollars, or 1,000.50 in all.", "No. 5 is yours.")
  check("Be here at 9 a.m. Monday, e.g. by bus.", "Thanks!")
  check("Mail bob.x@acme.com or see www.acme.com/help.", "It is there.")
  check('He said "yes."', "(She did not.)", "That is all.")
  check("Press 1.", "Press 2.")
  check("Wait... or not! says he.", "So be it.")
  t.strictSame(sentencesOf("  One.\n\n Two\tand three. "), ["One.", "Two and three."])
  t.strictSame(sentencesOf("   "), [])
})

t.test("given a sentence that is not complete yet, then its beginning can be spoken once words follow a comma", async (t) => {
  const check = (text: string, clause: string | undefined) => {
    const end = clauseIn(text)
    t.equal(end === undefined ? undefined : text.slice(0, end), clause, text)
  }
  check("Of course I can, and", "Of course I can, ")
  check("Of course I can, ", undefined)
  check("Of course I can,", undefined)
  check("Well, let me have a look, it", "Well, let me have a look, ")
  check("Well, let", undefined)
  check("It costs you about 10,000 dollars", undefined)
  check("This is what I found - the", "This is what I found - ")
  check("No pause in it at all", undefined)
})

t.test("a very long sentence is cut at its commas, one without any between words, and one word anywhere", async (t) => {
  const clause = "and then we will talk about the second of the many things that matter"
  const long = `${Array.from({ length: 6 }, () => clause).join(", ")}.`
  const pieces = sentencesOf(long)
  t.equal(pieces.join(" "), long)
  t.ok(pieces.length > 1 && pieces.every((piece) => piece.length <= 160 && /[,.]$/.test(piece)))
  const words = sentencesOf(`${"word ".repeat(100)}end.`)
  t.ok(words.every((piece) => piece.length <= 160 && !/^ord|wor$/.test(piece)))
  const lengths = sentencesOf("x".repeat(400)).map(({ length }) => length)
  t.strictSame(lengths, [160, 160, 80])
})

t.test("hostile texts take no time", async (t) => {
  // CPU time of this process alone, so that others on the machine do not count.
  const before = process.cpuUsage()
  for (const part of [". ", "a. ", "!", "... ", '."', ", ", " ", "A."]) sentencesOf(part.repeat(4000 / part.length))
  t.ok(process.cpuUsage(before).user < 2_000_000)
})

t.test("given a greeting, when its sentences are spoken one by one, then the pauses between them are those of the whole", async (t) => {
  const greetings = [
    "Hello Anna. This is the clinic. Your appointment is tomorrow at nine.",
    "Hello Anna! Are you there? Your bill is 25 dollars and 10 cents, due on Friday."
  ]
  const seconds = (text: string) =>
    Effect.map(
      Tts.use((tts) => tts.speak(text)),
      (speech) => speech.length / 8000
    )
  const apart = await Effect.runPromise(
    Effect.forEach(greetings, (text) =>
      Effect.gen(function* () {
        const pieces = sentencesOf(text)
        const alone = yield* Effect.forEach(pieces, seconds)
        return (alone.reduce((sum, one) => sum + one) - (yield* seconds(text))) / (pieces.length - 1)
      })
    ).pipe(Effect.provide(fliteLayer()))
  )
  const areNear = apart.every((joint) => Math.abs(joint) < 0.15)
  t.ok(areNear, `${apart} s longer`)
})
