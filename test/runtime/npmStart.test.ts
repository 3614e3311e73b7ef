/** `npm start`, as a supervisor sees it. */
import { existsSync } from "node:fs"
import { join } from "node:path"
import t from "tap"
import { npmStart } from "#test/support/npmStart.ts"
import { untilTrue } from "#test/support/until.ts"

t.test("given npm start, when npm is told to stop, then the engine stops with it", async (t) => {
  const engine = await npmStart(t)
  t.equal((await fetch(`${engine.url}/api/v1/openapi.json`)).status, 200)
  const postmaster = join(engine.folder, "postgres", "cluster", "postmaster.pid")
  t.ok(existsSync(postmaster))
  await engine.terminate()
  await untilTrue("end of the engine and its database", () => !engine.isLeft())
  t.notOk(existsSync(postmaster), "then its database was shut down cleanly")
})
