/** Whose fault a refusal in unknown words is. */
import t from "tap"
import { type Blame, Unexplained } from "#core/provider/Unexplained.ts"

const words = 'HTTP 400 {"to":["is not a valid phone number"]}'
/** The blame for each number in turn; "+" is a call that was placed, "!" a number that was refused in known words, "?" a person's repair. */
const blames = (unexplained: Unexplained, steps: ReadonlyArray<string>, wordsOf = (_: string) => words): ReadonlyArray<Blame> =>
  steps.flatMap((step) => {
    if (step === "+") unexplained.placed()
    else if (step === "!") unexplained.explained()
    else if (step === "?") unexplained.forget()
    else return [unexplained.blame(step, wordsOf(step))]
    return []
  })
const numbers = (count: number) => Array.from({ length: count }, (_, at) => `+1555010${at}`)
const all = (count: number, blame: Blame): ReadonlyArray<Blame> => Array.from({ length: count }, () => blame)

t.test("given a configuration that has placed a call", async (t) => {
  const after = (steps: ReadonlyArray<string>) => blames(new Unexplained(true), steps)
  t.strictSame(after(numbers(9)), all(9, "number"), "then nine in a row are the numbers' fault")
  t.strictSame(after(numbers(10)), [...all(9, "number"), "configuration"], "and the tenth is not")
  t.strictSame(after(Array.from({ length: 30 }, () => "+15550100")), all(30, "number"), "a number counts once")
  for (const end of ["+", "!", "?"]) {
    t.strictSame(after([...numbers(9), end, ...numbers(9)]), all(18, "number"), `${end} ends the row`)
  }
  const changing = blames(
    new Unexplained(true),
    numbers(10),
    (number) => `because of ${number.length} ${"x".repeat(Number(number.at(-1)))}`
  )
  t.equal(changing.at(-1), "configuration", "whatever the words are")
})

t.test("given a configuration that has placed no call", async (t) => {
  const fresh = (steps: ReadonlyArray<string>, wordsOf?: (number: string) => string) => blames(new Unexplained(false), steps, wordsOf)
  const [a = "", b = "", c = "", d = "", e = ""] = numbers(5)
  t.strictSame(fresh([a, b, c]), ["later", "later", "configuration"], "then three different numbers in a row stop it")
  t.strictSame(fresh([a, b, a, b]), ["later", "later", "number", "number"], "two numbers fail once they are refused again")
  t.strictSame(fresh([a, "+", a, b]), ["later", "number", "number"], "a placed call proves it")
  t.strictSame(fresh([a, b, "!", c, d]), ["later", "later", "later", "later"], "a refusal in known words ends the row")
  t.strictSame(fresh([a, b, c, "?", a, b, c]), ["later", "later", "configuration", "later", "later", "configuration"], "repaired in vain")
  t.strictSame(fresh([a, b, c, d, e, "?", d]), ["later", "later", "configuration", "later", "later", "later"], "those in flight count anew")
  const others = fresh([a, b, c, a], (number) => "x".repeat(Number(number.at(-1))))
  t.strictSame(others, ["later", "later", "later", "number"], "other words are another row")
  const same = fresh([a, b, c], (number) => `HTTP 400 invalid ${number}`)
  t.strictSame(same, ["later", "later", "configuration"], "words that differ in the number are the same")
})
