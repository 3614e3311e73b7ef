/** Each press of a key counts once, whether its tones are heard, the carrier reports it, or both. */
import t from "tap"
import { makePressedKeys } from "#core/voice/PressedKeys.ts"

/** The keys that count, of those heard and reported, each given with its time in seconds: `heard 1 0.5, reported 1 0.7`. */
const counted = (told: string): string => {
  const keys = makePressedKeys()
  return told
    .split(", ")
    .map((one) => {
      const [how = "", key = "", seconds] = one.split(" ")
      return keys[how === "heard" ? "heard" : "reported"](key, Number(seconds) * 1000) ? key : ""
    })
    .join("")
}

t.test("given keys that are heard, reported, or both, when they are told, then each press counts once", async (t) => {
  const check = (name: string, told: string, expected: string) => t.equal(counted(told), expected, name)
  check("only heard", "heard 1 0, heard 1 0.1, heard 2 5", "112")
  check("only reported", "reported 1 0, reported 1 0.1", "11")
  check("heard, then reported", "heard 1 0, reported 1 0.2", "1")
  check("reported, then heard", "reported 1 0, heard 1 0.05", "1")
  check("twice, before the first report", "heard 1 0, heard 1 0.1, reported 1 0.2, reported 1 0.3", "11")
  check("twice, with a report between", "heard 1 0, reported 1 0.2, heard 1 0.5, reported 1 0.7", "11")
  check("one was not heard", "heard 2 0.1, reported 1 0.2, reported 2 0.3", "21")
  check("one was misheard", "heard 3 0, heard 2 0.1, reported 2 0.2, reported 3 0.3", "323")
  check("much later it is another press", "heard 1 0, reported 1 2.5", "11")
})
