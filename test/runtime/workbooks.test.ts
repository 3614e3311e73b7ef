import t from "tap"
import { SourceRefused } from "#core/contact/ContactSource.ts"
import { formatOf, numberText } from "#runtime/storage/cellText.ts"
import { workbookRecords } from "#runtime/storage/Workbook.ts"
import { type GivenWorkbook, rowsOf, workbookOf, workbookParts, zipOf } from "#test/support/workbook.ts"

const read = async (bytes: Buffer) => {
  const records: Array<ReadonlyArray<string>> = []
  for await (const batch of workbookRecords(bytes)) records.push(...batch)
  return records
}
const reasonOf = async (bytes: Buffer): Promise<unknown> => {
  try {
    return await read(bytes)
  } catch (error) {
    return error instanceof SourceRefused ? error.reason : error
  }
}
const given = (rows: string, more: Partial<GivenWorkbook> = {}) =>
  read(workbookOf({ sheets: [`${rowsOf([["phone_number"]])}${rows}`], ...more }))
const refused = (what: string) => `Invalid workbook: ${what}`

t.test("given a number and its format, then all its digits are text, with what the format adds", async (t) => {
  const check = (raw: string, code: string | undefined, expected: string | undefined, id = 164, is1904 = false) =>
    t.equal(numberText(raw, formatOf(id, code), is1904), expected, `${raw} ${code ?? id}`)
  for (const code of ["General", "@", "0", "#", "#,##0", "0.00E+00", "0%", "[<=9999999]###-####;(###) ###-####"]) {
    if (!code.startsWith("[")) check("4930123456", code, "4930123456")
  }
  check("4.930123456E9", "General", "4930123456")
  check("4.930123456789012E14", "0", "493012345678901")
  check("15550100001", '"+"0', "+15550100001")
  check("15550100001", "\\+0", "+15550100001")
  check("15550100001", "+0 (000) 000-0000", "+1 (555) 010-0001")
  check("41445550100", "+## ## ### ## ##", "+41 44 555 01 00")
  check("123", "00000", "00123")
  check("1234567", "00000", "1234567")
  check("0", "000", "000")
  check("0", "###", "0")
  check("123", '_(000_);"minus "0', "123")
  check("-5", "000", "-5")
  check("0.30000000000000004", "General", "0.3")
  check("12.5", "00000", "12.5")
  check("7", "[Red]00", "07")
  check("46023", undefined, "2026-01-01", 14)
  check("46023.5", undefined, "2026-01-01 12:00", 22)
  check("46023.5", "d. mmmm yyyy", "2026-01-01")
  check("46023.75001", "yyyy-mm-dd hh:mm:ss", "2026-01-01 18:00:01")
  check("0.375", "h:mm AM/PM", "09:00")
  check("44561", "dd/mm/yyyy", "2026-01-01", 164, true)
  check("1", "yyyy", "1900-01-01")
  check("61", "yyyy", "1900-03-01")
  check("46023", '"d"0', "d46023")
  check("-1", "yyyy", "-1")
  check("1e300", "yyyy", BigInt(1e300).toString())
  for (const raw of ["", " ", "x", "NaN", "Infinity", "1e999"]) check(raw, "General", undefined)
})

t.test("given the cells of a sheet, then each is what Excel shows of it", async (t) => {
  const texts = ["<t>Zoë &amp; Bo</t>", '<r><t>A</t></r><r><rPr/><t xml:space="preserve"> b</t></r><rPh><t>x</t></rPh>', "<t>a_x000A_b</t>"]
  const row = [
    '<c r="A3" t="s"><v>0</v></c>',
    '<c r="B3" t="s"><v>1</v></c>',
    '<c r="D3" t="s"><v>2</v></c>',
    '<c r="E3" t="str"><f>A1</f><v>made</v></c>',
    '<c r="F3"><f>1+1</f><v>2</v></c>',
    '<c r="G3" t="b"><v>1</v></c>',
    '<c r="H3" t="e"><v>#N/A</v></c>',
    '<c r="I3" s="1"><v>42</v></c>',
    '<c r="J3" s="2"><v>46023</v></c>',
    "<c><v>7</v></c>",
    '<c t="inlineStr"><is><t>in</t><rPh><t>y</t></rPh></is></c>',
    '<c r="M3" s="1"/>'
  ].join("")
  const records = await given(`<row r="2"><c r="A2" s="1"/></row><row r="3">${row}</row>`, { formats: ["0000", 14], texts })
  t.strictSame(records, [["phone_number"], ["Zoë & Bo", "A b", "", "a\nb", "made", "2", "TRUE", "#N/A", "0042", "2026-01-01", "7", "in"]])
  t.strictSame(await given('<row><c r="A2" t="inlineStr"><is><t>x</t></is></c><c r="XFD2"><v>1</v></c></row>'), [
    ["phone_number"],
    ["x", ...Array.from({ length: 99 }, () => ""), "1"]
  ])
})

t.test("given several sheets, then the first visible one with a column of numbers is read, else the first", async (t) => {
  const sheet = (name: string) => rowsOf([[name], ["1"]])
  const names = async (...sheets: ReadonlyArray<string>) => (await read(workbookOf({ sheets }))).map(([first]) => first)
  t.strictSame(await names(sheet("notes"), sheet(" PHONE_number "), sheet("phone_number")), [" PHONE_number ", "1"])
  t.strictSame(await names(`hidden:${sheet("phone_number")}`, sheet("a"), sheet("b")), ["a", "1"])
  t.strictSame(await names("", sheet("phone_number")), ["phone_number", "1"])
  t.equal(await reasonOf(workbookOf({ sheets: ["hidden:"] })), refused("it has no visible sheet"))
})

t.test("given more rows than a piece, then all are there in order", async (t) => {
  const rows = Array.from({ length: 20_000 }, (_, at) => [`+1415${5_000_000 + at}`, `Name ${at}`])
  t.strictSame(await read(workbookOf({ sheets: [rowsOf([["phone_number", "name"], ...rows])] })), [["phone_number", "name"], ...rows])
})

t.test("given a hostile or broken workbook, then it is refused with the reason, and no more is decompressed than the limit", async (t) => {
  const list = rowsOf([["phone_number"], ["+14155550100"]])
  const parts = workbookParts({ sheets: [list] })
  const sound = zipOf(parts)
  const withSheet = (content: string | Buffer, said = {}) =>
    zipOf(parts.map((part) => (part.name.includes("sheet1") ? { ...part, content, said } : part)))
  const check = async (bytes: Buffer, reason: string) => t.equal(await reasonOf(bytes), refused(reason), reason)

  await check(withSheet(`<worksheet>${`<row a="${"x".repeat(100_000)}"/>`.repeat(1400)}`), "it is too large once it is decompressed")
  await check(withSheet(`<worksheet>${"x".repeat(2 * 1024 * 1024)}`), "a text in it is too long")
  await check(withSheet(`<worksheet>${list}</worksheet>`, { crc: 1 }), "it is damaged")
  await check(withSheet(list, { method: 12 }), "it is compressed in an unknown way")
  await check(withSheet(list, { flags: 1 }), "it is encrypted")
  await check(zipOf([...parts, ...parts]), "it has two parts '_rels/.rels'")
  await check(zipOf(parts.filter(({ name }) => !name.includes("sheet1"))), "it has no part 'xl/worksheets/sheet1.xml'")
  await check(zipOf([{ content: "x", name: "a.txt" }]), "it has no part 'xl/workbook.xml'")
  await check(withSheet("<worksheet><sheetData>"), "'xl/worksheets/sheet1.xml' is no well-formed XML")
  await check(withSheet("<worksheet>&lol;</worksheet>"), "'xl/worksheets/sheet1.xml' is no well-formed XML")
  await check(withSheet(`<!DOCTYPE a [<!ENTITY b "c">]><worksheet>&b;</worksheet>`), "'xl/worksheets/sheet1.xml' is no well-formed XML")
  await check(withSheet(Buffer.from([0x3c, 0x61, 0xff, 0x3e])), "'xl/worksheets/sheet1.xml' is not UTF-8 text")
  await check(
    withSheet('<worksheet><row><c r="B2"><f>A1</f></c></row></worksheet>'),
    "the result of the formula in cell B2 is not in the file; open and save it in Excel"
  )
  await check(withSheet('<worksheet><row><c r="C1" t="s"><v>9</v></c></row></worksheet>'), "cell C1 cannot be read")
  await check(withSheet('<worksheet><row><c r="C1"><v>1x</v></c></row></worksheet>'), "cell C1 cannot be read")
  const reasons = new Set<unknown>()
  for (let length = 4; length < sound.length; length += 7) reasons.add(typeof (await reasonOf(sound.subarray(0, length))))
  for (let at = 0; at < sound.length; at += 3) {
    const bytes = Buffer.from(sound)
    bytes[at] = (bytes[at] ?? 0) ^ 0x55
    const told = await reasonOf(bytes)
    reasons.add(Array.isArray(told) ? (JSON.stringify(told) === JSON.stringify(await read(sound)) ? "string" : told) : typeof told)
  }
  t.strictSame([...reasons], ["string"], "cut off or changed anywhere, it is refused or gives the same")
})
