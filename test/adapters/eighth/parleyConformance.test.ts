/** An outside author adds an eighth carrier: an adapter of at most 200 lines passes the suite. */
import { readFileSync } from "node:fs"
import t from "tap"
import { conforms } from "#test/adapters/conforms.ts"
import { parley } from "./parley.ts"
import { openParley } from "./parleyWorld.ts"

const MOST_LINES = 200

t.test("the adapter is small", async (t) => {
  const lines = readFileSync(new URL("parley.ts", import.meta.url), "utf8")
    .trimEnd()
    .split("\n").length
  t.ok(lines <= MOST_LINES, `${lines} lines`)
})
conforms(parley, openParley)
