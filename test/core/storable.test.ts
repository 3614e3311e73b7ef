/** JSON that a database accepts, whatever was said. */
import fc from "fast-check"
import t from "tap"
import { isStorable, storableJson } from "#core/storable.ts"
import { forAll } from "#test/support/forAll.ts"

t.test("what cannot be stored is replaced, and everything else is unchanged", async (t) => {
  const check = (value: unknown, expected: unknown) => t.strictSame(JSON.parse(storableJson(value)), expected)
  check({ said: "a\0b", "na\0me": 1 }, { said: "a\ufffdb", "na\ufffdme": 1 })
  check(["\ud83d", "\ude00\ud83d", "\ud83d\ude00"], ["\ufffd", "\ufffd\ufffd", "\ud83d\ude00"])
  check("\\u0000 \\\\u0000 \\ud83d", "\\u0000 \\\\u0000 \\ud83d")
  check('\u0001\n\t"\u2028', '\u0001\n\t"\u2028')
  check(null, null)
})

t.test("all strings come out storable, and those that were so before unchanged", async () => {
  const anything = fc.string({ unit: fc.integer({ min: 0, max: 0xffff }).map((unit) => String.fromCharCode(unit)) })
  const escaped = fc.string({ unit: fc.constantFrom("\\", "u", "0", "d", "8", "\0", "\ud800", "\udc00", '"', "a") })
  forAll(fc.oneof(anything, escaped), (text) => {
    const stored: unknown = JSON.parse(storableJson(text))
    return typeof stored === "string" && isStorable(stored) && (!isStorable(text) || stored === text)
  })
})
