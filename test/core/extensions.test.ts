import t from "tap"
import { extensionItem, extensionsIn, extensionsOf } from "#core/telephony/Extensions.ts"

t.test("given a list of extensions, then it covers what it names, and nothing similar", async (t) => {
  const check = (items: ReadonlyArray<string>, covered: ReadonlyArray<string>, others: ReadonlyArray<string>) => {
    const extensions = extensionsOf(items)
    for (const number of covered) t.ok(extensions.has(number), `${items} covers ${number}`)
    for (const number of others) t.notOk(extensions.has(number), `${items} does not cover ${number}`)
  }
  check([], [], ["1000", ""])
  check(["1000"], ["1000"], ["100", "10000", "01000", "+1000", "1000 ", "1000\n", "1000-1000", "١٠٠٠"])
  check(["1000-1999"], ["1000", "1500", "1999"], ["999", "2000", "150", "15000", "01500", "+1500", "1000-1999"])
  check(["1999-1000"], ["1000", "1999"], ["2000"])
  check(["20-39", "7001"], ["20", "39", "7001"], ["40", "7000", "200"])
  check(["10000000-19999999"], ["12345678"], ["123456789", "1234567"])
  check(["0123"], ["0123"], ["123"])
})

t.test("given a range over numbers of emergency services, then it covers them only where they are listed by themselves", async (t) => {
  const ranges = ["10-99", "000-999", "0000-9999", "00000-99999", "000000-999999"]
  const special = "15 17 18 000 066 100 110 112 113 119 190 211 911 988 999 0110 9110 9112".split(" ")
  const more = ["9911", "9999", "01000", "116117", "116116", "11833", "118118"]
  for (const number of [...special, ...more]) {
    t.notOk(extensionsOf(ranges).has(number), number)
    t.ok(extensionsOf([...ranges, number]).has(number), `${number}, listed`)
  }
  for (const number of ["20", "98", "200", "210", "510", "970", "1000", "1110", "1112", "1911", "9000"])
    t.ok(extensionsOf(ranges).has(number), number)
})

t.test("given an item of the list, then it is digits, or a range of one length", async (t) => {
  const pattern = new RegExp(extensionItem)
  for (const item of ["10", "12345678", "1000-1999", "10-20"]) t.match(item, pattern)
  for (const item of ["", "1", "123456789", "10-200", "+10", "1000-", "-1000", "1xxx", "_1XXX", "1000-1999-2000", "10 ", "10\n", "{10}"])
    t.notMatch(item, pattern, JSON.stringify(item))
})

t.test("given a stored configuration, then it has the extensions of its adapter's field, and none without one", async (t) => {
  t.ok(extensionsIn({ allow: ["1000"] }, "allow").has("1000"))
  t.notOk(extensionsIn({ allow: ["1000"] }, undefined).has("1000"))
  t.ok(extensionsIn({}, "allow").isEmpty)
  t.ok(extensionsIn({ allow: "1000" }, "allow").isEmpty)
  t.ok(extensionsIn({ allow: [1000, null] }, "allow").isEmpty)
})
