/** Cells with text from others, which a spreadsheet could execute as formulas. */
import t from "tap"
import { headerOf } from "#core/report/ReportCsv.ts"

/** A header cell, which whoever uploads a list can name. */
const cellOf = (text: string): string => headerOf([text]).split("Call Duration (s),")[1]?.split(",Call Tags,")[0] ?? ""

const check = (text: string, expected: string) =>
  t.test(`given ${JSON.stringify(text)}, when it is written, then it is ${JSON.stringify(expected)}`, async (t) => {
    t.equal(cellOf(text), expected)
  })

check("=1+1", "'=1+1")
check("a\n=1+1", '"a\n\'=1+1"')
check("a\r\n@SUM(A1)", '"a\r\n\'@SUM(A1)"')
check("a;=cmd|' /C calc'!A0", "a;'=cmd|' /C calc'!A0")
check("a, -1", '"a,\' -1"')
check("a\t+1", "a\t'+1")
check('"=1+1', '"""\'=1+1"')
check("\uff1d1+1", "'\uff1d1+1")
check("  =1", "'  =1")
check("+15550100001", "+15550100001")
check("a-b = c", "a-b = c")
check("Müller, Jo", '"Müller, Jo"')
