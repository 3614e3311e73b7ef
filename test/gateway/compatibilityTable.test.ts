/** Checks the table of calls of Dograh's web interface against the existing routes. */
import { readFileSync } from "node:fs"
import t from "tap"
import { builtIn } from "#adapters/builtIn.ts"
import { apiRoutes } from "#gateway/api.ts"

const page = readFileSync(new URL("../../gateway/COMPATIBILITY.md", import.meta.url), "utf8")
/** The last section of the page; the table before it is about differences. */
const [, table = ""] = page.split(/^## The calls of its web interface$/m)
const rows = [...table.matchAll(/^\| (GET|POST|PUT|PATCH|DELETE) (\S+) \| (?:`(\w+)`|absent)/gm)]
/** Ignores the names of parameters. */
const shapeOf = (method: string, path: string) => `${method} ${path.replaceAll(/\{\w+\}|:\w+/g, "*")}`
const answered = new Map(apiRoutes(builtIn).map(({ method, name, path }) => [shapeOf(method.toUpperCase(), path), name]))

t.test("given the 122 calls, then each is answered by the route that the table names, and the absent ones by none", async (t) => {
  t.equal(rows.length, 122)
  for (const [, method = "", path = "", name] of rows) t.equal(answered.get(shapeOf(method, `/api/v1${path}`)), name, `${method} ${path}`)
})
