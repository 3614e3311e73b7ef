import { Result } from "effect"
import fc from "fast-check"
import t from "tap"
import { isDialable } from "#core/telephony/E164.ts"
import { type NumberFault, readNumber, shown } from "#core/telephony/WrittenNumber.ts"
import { numberingPlan } from "#runtime/telephony/numberingPlan.ts"
import { forAllOf } from "#test/support/forAll.ts"

const wordOf = (written: string): string => {
  const read = readNumber(written, numberingPlan)
  return Result.isFailure(read) ? read.failure : read.success.e164 + (read.success.hadDecimals ? " without decimals" : "")
}
type Row = readonly [written: string, expected: string]
const check = (title: string, rows: ReadonlyArray<Row>) =>
  t.test(title, async (t) => {
    for (const [written, expected] of rows) t.equal(wordOf(written), expected, JSON.stringify(written))
  })
const refused = (fault: NumberFault, ...written: ReadonlyArray<string>): ReadonlyArray<Row> => written.map((text) => [text, fault])

check("given a number with separators, then they are removed", [
  ["+14155550100", "+14155550100"],
  ["  +1 (415) 555-0100 ", "+14155550100"],
  ["+14155550100\n", "+14155550100"],
  ["'+1.415.555/0100", "+14155550100"],
  ["+1415.5550101", "+14155550101"],
  ["+49 30/1234567", "+49301234567"],
  ["+49 89 12345-0", "+4989123450"],
  ["\u00a0+49\u00a030\u202f1234567", "+49301234567"]
])
check("given no number with a country code, then it is refused", [
  ["+1234567", "+1234567"],
  ["+123456789012345", "+123456789012345"],
  ...refused(
    "not international",
    "+123456",
    "+0123456789",
    "14155550100",
    "+1415555O100",
    "+14155550100x12",
    "++14155550100",
    "",
    "=+14155550100"
  ),
  ...refused("not international", `+14155550100${" ".repeat(100)}`, "\u0661".repeat(4096)),
  ...refused("trunk prefix", "0014155550100", "00 1 415 555 0100"),
  ...refused("scientific", "1.41556E+10", "+1,41556e10", "'141556E5")
])
check("given decimals, as spreadsheets add them, then they are cut off if they are zero", [
  ["+14155550101.0", "+14155550101 without decimals"],
  ["+14155550101.00", "+14155550101 without decimals"],
  ["+14155550101,0", "+14155550101 without decimals"],
  ['="+14155550101.0"', "+14155550101 without decimals"],
  ...refused("fraction", "+14155550101.5", "+14155550101.01", "+14155550101,5")
])
check("given a trunk prefix in brackets, then the numbering plan decides", [
  ["+41 (0)44 668 18 01", "+41446681801"],
  ["+41(0)446681801", "+41446681801"],
  ["+44 ( 0 )20 7946 0958", "+442079460958"],
  ["+49 (030) 1234567", "+49301234567"],
  ["+39 (0)6 1234567", "+39061234567"],
  ["+39 (06) 1234567", "+39061234567"],
  ["+225 (0)7 07 07 07 07", "+2250707070707"],
  ...refused("bracketed zero", "+1 (0)415 555 0101", "+999 (0)1234567", "+41 (0)12 345")
])
check("given two numbers in one field, then neither is called", [
  ...refused("two numbers", "+49 30 1234567/68", "+212522940770/74", "+212522940770-74", "+212 522 940770 74"),
  ...refused("two numbers", "+14155550101 / +14155550102", "+14155550101, +14155550102", "+14155550101;+14155550102"),
  ...refused("two numbers", "+14155550101 4155550102", "+1 415 555 0101 | 0102", "tel:+1-415-555-0101;ext=12")
])
check("given characters that nobody sees, or other forms of digits and signs, then it is the same number", [
  ...["\u200b", "\u202a", "\u202e", "\u2060", "\ufe0d", "\ufeff", "\u00ad"].flatMap(
    (unseen): ReadonlyArray<Row> => [
      [`${unseen}+14155550101`, "+14155550101"],
      [`+1415${unseen}5550101${unseen}`, "+14155550101"]
    ]
  ),
  ...["\u2010", "\u2011", "\u2012", "\u2013", "\u2014", "\u2015", "\u2212", "\uff0d"].map(
    (dash): Row => [`+1${dash}415-555${dash}0101`, "+14155550101"]
  ),
  ["+١٤١٥٥٥٥٠١٠١", "+14155550101"],
  ["+۱۴۱۵۵۵۵۰۱۰۱", "+14155550101"],
  ["+१४१५५५५०१०१", "+14155550101"],
  ["＋１（４１５）５５５－０１０１", "+14155550101"],
  // A note after a number is not a digit of it.
  ...refused("not international", "+14155550101²", "+14155550101①")
])
check("given what spreadsheets and links put around a number, then it is taken off", [
  ['="+14155550101"', "+14155550101"],
  ['="\'+1 415 555 0101"', "+14155550101"],
  ["'+14155550101", "+14155550101"],
  ["tel:+14155550101", "+14155550101"],
  ["TEL:+1-415-555-0101", "+14155550101"]
])

t.test("given any digits, signs and spaces, then the number has these digits in order, but for a zero that is not dialed", async (t) => {
  const parts = fc.constantFrom(
    "+",
    "0",
    "1",
    "4",
    "49",
    "415",
    "555",
    "0101",
    " ",
    "(",
    ")",
    "(0)",
    "-",
    "/",
    ".",
    ".0",
    ",",
    "\u200b",
    "'",
    "x"
  )
  let read = 0
  forAllOf({ seed: 36, numRuns: 5000 }, fc.array(parts, { minLength: 4, maxLength: 14, size: "max" }), (cells) => {
    const written = `+${cells.join("")}`
    const result = readNumber(written, numberingPlan)
    if (Result.isFailure(result)) return true
    read++
    const { e164, hadDecimals } = result.success
    const digits = (hadDecimals ? written.replace(/[.,]0+\D*$/, "") : written).replace(/\D/g, "")
    const withoutZero = digits.replace(/^(\d{1,3})0/, "$1")
    return (
      isDialable(e164) && (e164 === `+${digits}` || (/\(\s*0/.test(written) && digits.length === e164.length && withoutZero !== digits))
    )
  })
  t.ok(read > 100, `${read} were read`)
})

t.test("given a field, then it is shown as it is, with what nobody sees", async (t) => {
  t.equal(shown("+1415\u200b555"), "'+1415<U+200B>555'")
  t.equal(shown("+1\u00a0415\t\u{e0020}"), "'+1<U+00A0>415<U+0009><U+E0020>'")
  t.equal(shown("４１５ x"), "'４１５ x'")
  t.equal(shown("1".repeat(50)), `'${"1".repeat(40)}…'`)
})
