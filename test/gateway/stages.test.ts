/** The table "A request's life" in core/ARCHITECTURE.md names the stages of a request in the order in which they run. */
import { readFileSync } from "node:fs"
import t from "tap"
import { headStages, stages } from "#gateway/request/stages.ts"

const page = readFileSync(new URL("../../core/ARCHITECTURE.md", import.meta.url), "utf8")
const chapter = page.slice(page.indexOf("## A request's life"), page.indexOf("## Supervision"))

t.test("given the stages of a request", async (t) => {
  const named = [...chapter.matchAll(/^\| `(\w+)`/gm)].map(([, name]) => name)

  const run = [...headStages, ...stages].map(({ name }) => name)

  t.strictSame(named, run, "the table has them in their order")
})
