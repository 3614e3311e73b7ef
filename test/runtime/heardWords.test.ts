/** What a callee who interrupts the agent has heard, if its voice tells when each word is spoken. */
import t from "tap"
import { WordMarks } from "#core/voice/WordMarks.ts"
import { GrowingPiece } from "#runtime/voice/GrowingPiece.ts"
import { heardText } from "#runtime/voice/HeardText.ts"

const sentence = "One, two (three) four."
type Told = readonly [word: string, untilMillis: number]
const marksOf = (words: ReadonlyArray<Told>) => {
  const known = new WordMarks(sentence)
  for (const [word, untilMillis] of words) known.push({ word, untilMillis })
  return known.marks
}

t.test("given words with their times, then what was heard ends with one of them; where they do not fit, it is estimated", async (t) => {
  /** What was heard of two seconds after each of these milliseconds. */
  const check = (words: ReadonlyArray<Told>, expected: ReadonlyArray<readonly [millis: number, heard: string]>) => {
    const piece = { text: sentence, bytes: 16_000, words: marksOf(words) }
    for (const [millis, heard] of expected) t.equal(heardText([piece], millis * 8), heard, `${millis} ms of ${words.join(" ")}`)
  }
  const exact = [
    [0, ""],
    [99, ""],
    [100, "One,"],
    [1700, "One,"],
    [1800, "One, two"],
    [1850, "One, two (three)"],
    [1900, sentence]
  ] as const
  const times = [100, 1800, 1850, 1900, 1950]
  const told = (...words: ReadonlyArray<string>) => words.map((word, at): Told => [word, times[at] ?? 0])
  check(told("One,", "two", "(three)", "four."), exact)
  check(told("One", "two", "three", "four", "five"), exact)

  const estimated = [
    [0, ""],
    [1000, "One, two"],
    [1700, "One, two (three)"],
    [2000, sentence]
  ] as const
  for (const time of [Number.NaN, Number.POSITIVE_INFINITY, -1, 0])
    check(
      [
        ["One", time],
        ["two", 1800]
      ],
      estimated
    )
  check([], estimated)
  check(told("...", "six", "One"), estimated)
  check(told("", "x".repeat(5000), "One"), estimated)

  const estimatedAfterOne = [
    [99, ""],
    [100, "One,"],
    [1000, "One, two"],
    [1500, "One, two (three)"],
    [2000, sentence]
  ] as const
  check(told("One", "three", "two"), estimatedAfterOne)
  for (const time of [100, 50])
    check(
      [
        ["One", 100],
        ["two", time],
        ["three", 150]
      ],
      estimatedAfterOne
    )
})

t.test(
  "given speech that is still arriving, when all of it so far was played, then the words that have not come do not count",
  async (t) => {
    const piece = new GrowingPiece(sentence, marksOf([["One", 3000]]))
    piece.add(new Uint8Array(3100 * 8))
    t.equal(heardText([piece], 3100 * 8), "One,")
  }
)
