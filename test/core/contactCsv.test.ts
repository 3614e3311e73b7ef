import { Result } from "effect"
import fc from "fast-check"
import t from "tap"
import { noPlan, readNumber } from "#core/telephony/WrittenNumber.ts"
import { extensionsOf } from "#core/telephony/Extensions.ts"
import { begin, type ContactRow, type CsvOptions, type CsvRefused, type CsvSummary } from "#core/contact/ContactCsv.ts"
import type { RowFault } from "#core/contact/CsvFaults.ts"
import { forAllOf } from "#test/support/forAll.ts"

type Cells = ReadonlyArray<string>
type Read =
  | { readonly _tag: "Accepted"; readonly contacts: ReadonlyArray<ContactRow>; readonly summary: CsvSummary }
  | { readonly _tag: "Refused"; readonly contacts: ReadonlyArray<ContactRow>; readonly refusal: CsvRefused }

const read = (header: Cells, rows: Iterable<Cells>, options: CsvOptions = {}): Read => {
  const contacts: Array<ContactRow> = []
  const begun = begin(header, options)
  if (Result.isFailure(begun)) return { _tag: "Refused", contacts, refusal: begun.failure }
  for (const cells of rows) {
    const contact = begun.success.row(cells)
    if (contact !== undefined) contacts.push(contact)
  }
  const ended = begun.success.end()
  return Result.isSuccess(ended)
    ? { _tag: "Accepted", contacts, summary: ended.success }
    : { _tag: "Refused", contacts, refusal: ended.failure }
}
const phone = (n: number) => `+1415555${String(n).padStart(4, "0")}`
const phones = (...cells: Cells) => cells.map((cell) => [cell])

t.test("given an acceptable file, then its rows become contacts", async (t) => {
  const header = [
    "\ufeffPhone_Number ",
    "First_Name",
    "plan",
    "",
    "greeting_override_type",
    "greeting_override_text",
    "greeting_override_recording_id"
  ]
  const file = read(
    header,
    [
      ["+1 415 555 0100", "Ana", " gold ", " ", "text", "Hello {{First_Name}}", ""],
      [""],
      [" ", "nobody"],
      ["+14155550101", "Bo", "", "", "Audio", "", " rec-7 ", "", " "],
      ["+14155550102", "Cy"],
      ["+14155550103", "Di", "", "", "text", "", "rec-8"],
      ["+14155550104", "Ed", "", "", "video", "x"]
    ],
    {
      requiredVariables: ["first_name", "First_Name"],
      plan: { ...noPlan, fit: (e164) => (e164 === "+14155550102" ? "impossible" : "possible") }
    }
  )
  t.equal(file._tag, "Accepted")
  if (file._tag !== "Accepted") return
  t.strictSame(file.summary, {
    rowsInFile: 6,
    accepted: 5,
    skipped: 1,
    warnings: [
      "Phone numbers that are not possible in their country's numbering plan in rows: 5",
      "Incomplete or unknown greeting override ignored in rows: 6, 7"
    ]
  })
  t.strictSame(file.contacts.slice(0, 3), [
    {
      rowNumber: 2,
      phoneNumber: "+14155550100",
      context: { Phone_Number: "+14155550100", phone_number: "+14155550100", First_Name: "Ana", first_name: "Ana", plan: " gold " },
      greetingOverride: { type: "text", text: "Hello {{First_Name}}" }
    },
    {
      rowNumber: 4,
      phoneNumber: "+14155550101",
      context: { Phone_Number: "+14155550101", phone_number: "+14155550101", First_Name: "Bo", first_name: "Bo", plan: "" },
      greetingOverride: { type: "audio", recordingId: "rec-7" }
    },
    {
      rowNumber: 5,
      phoneNumber: "+14155550102",
      context: { Phone_Number: "+14155550102", phone_number: "+14155550102", First_Name: "Cy", first_name: "Cy", plan: "" },
      greetingOverride: undefined
    }
  ])
  const greetings = file.contacts.slice(3).map(({ greetingOverride, rowNumber }) => [rowNumber, greetingOverride])
  t.strictSame(greetings, [
    [6, undefined],
    [7, undefined]
  ])
})

t.test("given extensions that may be called, then they are accepted beside numbers, and never mistaken for them", async (t) => {
  const extensions = extensionsOf(["1000-1999", "0123", "1234567"])
  const file = read(["phone_number"], phones("'1000", " 1001 ", "0123", "1234567", "+1234567"), { extensions })
  const numbers = file.contacts.map(({ phoneNumber }) => phoneNumber)
  t.strictSame(numbers, ["1000", "1001", "0123", "1234567", "+1234567"])
  t.match(file, { summary: { accepted: 5, hasExtensions: true, warnings: [] } })
  for (const cell of ["1000.0", "10-00", "1 000", "(1000)", "+1000", "2000", "123", "1e3", "112"])
    t.match(
      read(["phone_number"], phones(cell), { extensions }),
      { _tag: "Refused", refusal: { reason: "invalid_phone", rows: [2] } },
      cell
    )
  t.match(read(["phone_number"], phones("1000", "+1234567", "'1000"), { extensions }), {
    refusal: { reason: "duplicate_phone", rows: [4] }
  })
})

t.test("given a faulty file, then it is refused with the reasons", async (t) => {
  const check = (
    header: Cells,
    rows: Iterable<Cells>,
    expected: Partial<Pick<CsvRefused, "reason" | "message" | "rows">>,
    options: CsvOptions = {}
  ) => {
    const file = read(header, rows, options)
    if (file._tag === "Accepted") return t.fail(`accepted, not ${expected.reason}`)
    const { message, reason, rows: at } = file.refusal
    return t.match({ message, reason, rows: at }, expected, message)
  }
  const bad = (rows: string) => `Invalid phone numbers in rows: ${rows}. All phone numbers must include country code (start with '+')`
  const format = (message: string) => ({ reason: "invalid_format", message: `Invalid CSV format: ${message}` }) as const

  t.test("in its header", async () => {
    check(["name"], [["Ana"]], { reason: "no_phone_column", message: "Source must contain a 'phone_number' column", rows: [1] })
    check(["name"], [], { reason: "no_data" })
    check(["phone_number", "Name", " name "], [], format("column 'name' occurs more than once"))
    check(["phone_number", "PHONE_NUMBER"], [], format("column 'PHONE_NUMBER' occurs more than once"))
    check(["phone_number", "__proto__"], [], format("column '__proto__' cannot be used"))
    check(["phone_number", "x".repeat(256)], [], format("a column name is longer than 255 characters"))
    check(["phone_number", "a\0"], [], format("a column name contains a character that is not text"))
    check(["phone_number", ...Array.from({ length: 100 }, (_, index) => `c${index}`)], [], format("more than 100 columns"))
    t.equal(read(["phone_number", ...Array.from({ length: 99 }, (_, index) => `c${index}`)], phones(phone(1)))._tag, "Accepted")
  })
  t.test("in its lack of anybody to call", async () => {
    check(["phone_number"], [], { reason: "no_data", message: "CSV file must have a header row and at least one data row" })
    check(["phone_number"], [[""]], { reason: "no_data" })
    check(["phone_number"], phones(" "), { reason: "no_usable_row", message: "CSV file must have at least one row with a phone number" })
  })
  t.test("in the shape of its rows", async () => {
    check(["phone_number"], [[phone(1)], [phone(2), "x"], [phone(3), "", "y"]], {
      ...format("more cells than columns in rows: 3, 4"),
      rows: [3, 4]
    })
    check(
      ["phone_number", ""],
      [
        [phone(1), ""],
        [phone(2), "x"]
      ],
      format("values in a column without a name in rows: 3")
    )
    check(["phone_number", "a"], [[phone(1), "x".repeat(4097)]], format("cells longer than 4096 characters in rows: 2"))
    check(
      ["phone_number", "a"],
      [
        [phone(1), "\0"],
        [phone(2), "\ud800"]
      ],
      format("characters that are not text in rows: 2, 3")
    )
    const tooMany = Array.from({ length: 100_003 }, (_, index) => [`+1${1_000_000 + index}`])
    check(["phone_number"], tooMany, { ...format("more than 100000 rows"), rows: [100_002, 100_003, 100_004] })
    t.equal(read(["phone_number"], tooMany.slice(0, 100_000))._tag, "Accepted")
    t.equal(read(["phone_number", "a"], [[phone(1), "x".repeat(4096)]])._tag, "Accepted")
  })
  t.test("in its phone numbers", async () => {
    check(["phone_number"], phones("4155550100", phone(1), phone(2), "x"), {
      reason: "invalid_phone",
      message: `${bad("2, 5")}. Row 2 has '4155550100'. Row 5 has 'x'`,
      rows: [2, 5]
    })
    check(
      ["phone_number"],
      Array.from({ length: 8 }, () => ["x"]),
      {
        message: `${bad("2, 3, 4, 5, 6 and 3 more")}${[2, 3, 4, 5, 6].map((row) => `. Row ${row} has 'x'`).join("")}`,
        rows: [2, 3, 4, 5, 6, 7, 8, 9]
      }
    )
    check(["phone_number"], phones("x\u200by", "1.41556E+10", "0014155550100", "+14155550101.5", "+14155550101/02", "+1 (0)4155550101"), {
      message: [
        bad("2, 3, 4, 5, 6 and 1 more"),
        "Row 2 has 'x<U+200B>y'",
        "Row 3 has '1.41556E+10': scientific notation, as spreadsheets write long numbers; format the column as text and export the file again",
        "Row 4 has '0014155550100': it starts with '00' in place of '+'",
        "Row 5 has '+14155550101.5': digits behind a decimal point",
        "Row 6 has '+14155550101/02': two numbers in one field, or more digits than its country has; list each number in a row of its own"
      ].join(". ")
    })
    check(["phone_number"], phones("+14155550101.5"), {
      message: "Invalid phone numbers in rows: 2. Row 2 has '+14155550101.5': digits behind a decimal point"
    })
    check(["phone_number"], phones(phone(1), phone(2), ` ${phone(1)}`, "+1 (415) 5550001"), {
      reason: "duplicate_phone",
      message: "Duplicate phone numbers found in rows: 4, 5. Phone numbers in a campaign must be unique.",
      rows: [4, 5]
    })
    check(["phone_number"], phones(phone(1), phone(1), "x"), { reason: "invalid_phone" })
  })
  t.test("in what the agent's template needs", async () => {
    const missing = (names: string) =>
      `Workflow uses template variables that are missing from the source data: ${names}. Add the missing columns or remove them from the workflow.`
    const empty = (name: string, rows: string) =>
      `Template variable '${name}' is empty in rows: ${rows}. All template variables used in the workflow must have values in every row.`
    check(
      ["phone_number", "Name"],
      [[phone(1), "Ana"]],
      {
        reason: "missing_variable",
        message: missing("'NAME', 'a', 'b'")
      },
      { requiredVariables: ["name", "b", "a", "Name", "NAME"] }
    )
    check(
      ["phone_number", "name"],
      [[phone(1), "Ana"], [phone(2), " "], ["", ""], [phone(3)]],
      {
        reason: "empty_variable",
        message: empty("name", "3, 5"),
        rows: [3, 5]
      },
      { requiredVariables: ["name"] }
    )
    const greeting = ["phone_number", "name", "greeting_override_type", "greeting_override_text"]
    check(greeting, [[phone(1), "Ana", "text", "Hi {{title}}"]], { reason: "missing_variable", message: missing("'title'"), rows: [2] })
    check(greeting, [[phone(1), "", "text", "Hi {{name}}"]], { reason: "empty_variable", message: empty("name", "2") })
    t.equal(read(greeting, [[phone(1), "", "text", "Hi {{name | you}}, {{campaign_id}}"]])._tag, "Accepted")
    check(
      ["phone_number", "greeting_override_text"],
      [[phone(1), "x"]],
      { reason: "missing_variable" },
      { requiredVariables: ["greeting_override_text"] }
    )
  })
  t.test("more than a thousand times, then a thousand rows are listed and all are counted", async (t) => {
    const file = read(
      ["phone_number"],
      Array.from({ length: 5000 }, () => ["x"])
    )
    if (file._tag !== "Refused") return t.fail("accepted")
    t.equal(file.refusal.rows.length, 1000)
    return t.match(file.refusal.message, /^Invalid phone numbers in rows: 2, 3, 4, 5, 6 and 4995 more\./)
  })
  t.test("then no contact is emitted after it", async (t) => {
    const rows = read(["phone_number"], phones(phone(1), "x", phone(2))).contacts.map(({ rowNumber }) => rowNumber)
    t.strictSame(rows, [2])
    t.strictSame(read(["phone_number"], phones(phone(1)), { requiredVariables: ["a"] }).contacts, [])
  })
})

t.test(
  "given a faulty file and somebody who is told of the faults, then each is told, and the other rows are still contacts",
  async (t) => {
    const faults: Array<RowFault> = []
    const header = ["phone_number", "Name", "", "greeting_override_type", "greeting_override_text"]
    const file = read(
      header,
      [
        [phone(1), "Ana"],
        ["5550100", " "],
        [phone(1), "Bo"],
        ["", "nobody"],
        [phone(2), "x".repeat(4097)],
        [phone(3), "Di", "value", "text", "Hi {{title}} {{name}}"],
        [phone(4), "Ed", "", "", "", "sixth"],
        [phone(5), "Fay"],
        [`${phone(6)} or so`, "a\0"]
      ],
      { requiredVariables: ["name"], onFault: (fault) => faults.push(fault) }
    )
    t.strictSame(
      faults.map(({ column, reason, rowNumber }) => [rowNumber, column, reason]),
      [
        [3, "phone_number", "'5550100': no phone number with a country code (start with '+')"],
        [3, "Name", "template variable 'name' is empty"],
        [4, "phone_number", "row 2 has the same number"],
        [6, "Name", "a cell longer than 4096 characters"],
        [7, undefined, "a value in a column without a name"],
        [7, "greeting_override_text", "the greeting uses the variable 'title', which no column has"],
        [8, undefined, "more cells than columns"],
        [10, "Name", "characters that are not text"],
        [10, "phone_number", `'${phone(6)} or so': no phone number with a country code (start with '+')`]
      ]
    )
    t.strictSame(faults[2]?.repeats, { phoneNumber: phone(1), firstRow: 2 })
    const rows = file.contacts.map(({ rowNumber }) => rowNumber)
    t.strictSame([file._tag, rows], ["Refused", [2, 9]])
  }
)

t.test("given any file, then each accepted contact is well formed and comes from one of its rows", async (t) => {
  const header = ["phone_number", "Name", "city"]
  const number = fc
    .tuple(
      fc.integer({ min: 1_000_000, max: 1_000_040 }),
      fc.constantFrom("", " ", "-", "x", "'"),
      fc.constantFrom("+", "+", "+", "", "00")
    )
    .map(
      ([digits, filler, prefix]) =>
        `${filler === "'" ? "'" : ""}${prefix}${String(digits).slice(0, 3)}${filler === "'" ? "" : filler}${String(digits).slice(3)}`
    )
  const good = fc.integer({ min: 1_000_000, max: 999_999_999_999 }).map((digits) => `+${digits}`)
  const cell = fc.oneof(fc.string({ maxLength: 6 }), fc.constantFrom("", " ", "Zoë", 'a,b\n"c"'))
  const rowOf = (phone: fc.Arbitrary<string>) => fc.tuple(phone, cell, cell).map(([phone, name, city]) => [phone, name, city])
  const file = fc.oneof(
    fc.array(rowOf(fc.oneof(number, fc.constantFrom("", " "))), { maxLength: 8 }),
    fc.uniqueArray(rowOf(good), { maxLength: 30, size: "max", selector: ([phone]) => phone })
  )
  let accepted = 0
  let refused = 0
  forAllOf({ seed: 9, numRuns: 1500 }, file, (rows) => {
    const outcome = read(header, rows)
    const faultyRows = new Set<number>()
    const told = read(header, rows, { onFault: ({ rowNumber }) => faultyRows.add(rowNumber) })
    if (told._tag !== outcome._tag || (outcome._tag === "Accepted") !== (faultyRows.size === 0 && told.contacts.length > 0)) return false
    const blank = rows.filter(([cell = ""]) => cell.trim() === "").length
    if (told.contacts.length + blank + faultyRows.size !== rows.length) return false
    const dialed = outcome.contacts.map(({ phoneNumber }) => phoneNumber)
    const isSound = outcome.contacts.every(({ context, phoneNumber, rowNumber }) => {
      const [cell = "", name, city] = rows[rowNumber - 2] ?? []
      return (
        /^\+[1-9]\d{6,14}$/.test(phoneNumber) &&
        Result.getOrUndefined(readNumber(cell))?.e164 === phoneNumber &&
        context.phone_number === phoneNumber &&
        context.Name === name &&
        context.name === name &&
        context.city === city &&
        Object.keys(context).length === 4
      )
    })
    if (!isSound || new Set(dialed).size !== dialed.length) return false
    if (outcome._tag === "Refused") return ++refused > 0
    accepted++
    const { summary } = outcome
    return (
      summary.accepted === dialed.length &&
      summary.accepted + summary.skipped === summary.rowsInFile &&
      summary.rowsInFile === rows.length &&
      summary.skipped === blank
    )
  })
  t.ok(accepted > 300 && refused > 300, `${accepted} accepted, ${refused} refused`)
})
