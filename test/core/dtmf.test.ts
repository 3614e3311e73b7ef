/** Keys pressed by a callee, as reported by any provider. */
import t from "tap"
import { withKey } from "#core/call/Dtmf.ts"

t.test("given a key, then it is noted if it is one, up to 256 of them", async (t) => {
  const check = (pressed: string, digit: string, expected: string) =>
    t.equal(withKey(pressed, digit), expected, `${pressed.length} and ${digit}`)
  for (const digit of ["0", "9", "*", "#", "A", "D"]) check("1", digit, `1${digit}`)
  for (const digit of ["", "12", "E", "a", "+", "\n"]) check("1", digit, "1")
  check("1".repeat(255), "2", `${"1".repeat(255)}2`)
  check("1".repeat(256), "2", "1".repeat(256))
})
