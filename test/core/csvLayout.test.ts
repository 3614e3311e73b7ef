import t from "tap"
import { layoutOf, TextFormulas } from "#core/contact/CsvLayout.ts"

t.test("given the beginning of a file, then its delimiter is found", async (t) => {
  const check = (beginning: string, delimiter: string, headerFrom = 0) =>
    t.strictSame(layoutOf(beginning), { delimiter, headerFrom }, JSON.stringify(beginning))
  check("phone_number", ",")
  check("phone_number,name", ",")
  check("name;phone_number", ";")
  check('\ufeff"Phone_Number";"name"\r', ";")
  check("name\tphone_number\r", "\t")
  check("name;phone_number,x", ",")
  check("name;phone", ",")
  check("a;b\tphone_number", "\t")
  check("", ",")
  check('\n"name, first";phone_number\nx,y', ";")
  check('"a;""b""";"line\nbreak, too";phone_number\n', ";")
  check('"name; first"\tphone_number\n', "\t")
  check('phone_number,"a;b"\n', ",")
  check("sep=;\nphone_number,x;name\n", ";", 6)
  check('\ufeff"sep=,"\r\nphone_number;name\r\n', ",", 10)
  check("SEP=\t\r\nphone_number\n", "\t", 7)
  check("sep=|\nphone_number|name\n", "|", 6)
  for (const beginning of ['"name', '"name\n', "phone_number;na"])
    t.equal(layoutOf(beginning, false), undefined, "the header is not complete")
  t.strictSame(layoutOf("x".repeat(100_000), false), { delimiter: ",", headerFrom: 0 }, "its end is not waited for if it is too long")
})

t.test("given Excel's texts, then they are quoted cells, wherever the file is cut", async (t) => {
  const check = (text: string, expected: string) => {
    for (let cut = 0; cut <= text.length; cut++) {
      const formulas = new TextFormulas(";")
      const cells = formulas.cells(text.slice(0, cut), false) + formulas.cells(text.slice(cut), false) + formulas.cells("", true)
      t.equal(cells, expected, `cut at ${cut}`)
    }
  }
  check('="+1";="a"\r\n="b"', '"+1";"a"\r\n"b"')
  check('x="+1";==;"";="c"=', 'x="+1";==;"";"c"=')
  check('"a;=""b""\n=""c""";="d"', '"a;=""b""\n=""c""";"d"')
})
