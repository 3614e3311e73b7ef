import { execFile } from "node:child_process"
import { mkdirSync, mkdtempSync, renameSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { promisify } from "node:util"
import t from "tap"

const run = promisify(execFile)
const root = fileURLToPath(new URL("../..", import.meta.url))
const tsc = join(root, "node_modules/typescript/bin/tsc")

const rightUse = `
import type { Campaign, Operations } from "trunkline/api"
type Start = Operations["startCampaign"]
const request: Pick<Start, "method" | "path" | "params"> = {
  method: "POST", path: "/api/v1/campaign/{campaign_id}/start", params: { campaign_id: 7 }
}
const stateOf = (answer: Start["answer"]): Campaign["state"] => answer.state
const config: Operations["createTelephonyConfig"]["body"]["config"]["provider"] = "ari"
`
const wrongUse = `${rightUse}
const wrong: Campaign["state"] = "asleep"
`

t.test("given a package that npm made of this project, unpacked where there is nothing else", async (t) => {
  // Outside the project, whose own name and packages would be found from any folder in it.
  const folder = mkdtempSync(join(tmpdir(), "trunkline-api-"))
  t.teardown(() => rmSync(folder, { recursive: true }))
  writeFileSync(join(folder, "package.json"), '{ "type": "module" }')
  await run("npm", ["pack", "--offline", "--silent", "--pack-destination", folder], { cwd: root })
  await run("tar", ["-xzf", "trunkline-0.1.0.tgz"], { cwd: folder })
  mkdirSync(join(folder, "node_modules"))
  renameSync(join(folder, "package"), join(folder, "node_modules/trunkline"))
  /** What the compiler says of a source in that folder; empty when all is well. */
  const compiled = async (name: string, source: string): Promise<string> => {
    writeFileSync(join(folder, name), source)
    const options = ["--strict", "--noEmit", "--module", "NodeNext", "--target", "ES2024", "--skipLibCheck", "false"]
    // Without the hooks that tap puts into every Node that a test starts: the compiler does not start with them.
    return run("env", ["-u", "NODE_OPTIONS", process.execPath, tsc, ...options, name], { cwd: folder }).then(
      () => "",
      ({ stderr, stdout }: { readonly stdout: string; readonly stderr: string }) => stdout + stderr
    )
  }

  t.test("when a client imports its types of the API, then it compiles", async (t) => {
    t.equal(await compiled("right.ts", rightUse), "")
  })

  t.test("when it uses one in a way that it does not allow, then it does not", async (t) => {
    const said = await compiled("wrong.ts", wrongUse)
    t.match(said, /wrong\.ts\(\d+,7\): error TS2322: Type '"asleep"' is not assignable/)
    t.equal(said.match(/error TS/g)?.length, 1)
  })
})
