/**
 * `npm run sabotage`: proves that the tests notice when a rule of the product is broken. Each sabotage is applied to a copy of the working tree, and
 * its test file must then fail. `-- PATTERN` tries only those whose rule or file matches. Exits with 1 unless all are caught.
 */
import { mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs"
import { constants, tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { bundlePackages } from "#test/support/bundlePackages.ts"
import { border } from "./border.ts"
import { Copy, killAll } from "./Copy.ts"
import { dispatch } from "./dispatch.ts"
import { faultOf, matching, missedBecause, type Sabotage, sabotaged } from "./Sabotage.ts"

/** Copies in which tests run side by side. */
const LANES = 2
const FILE_MILLIS = 300_000
/** How much is shown of the output of a test file that should have passed. */
const SHOWN_LINES = 40

const root = fileURLToPath(new URL("../..", import.meta.url))
const print = (text: string) => process.stdout.write(`${text}\n`)
const inSeconds = (seconds: number): string => `${seconds.toFixed(1)} s`

class Refused extends Error {}

/** As `npm test` sets it. tap puts its own module hook into NODE_OPTIONS, and its own time limit is much shorter. */
const environmentIn = async (folder: string): Promise<NodeJS.ProcessEnv> => {
  const { NODE_OPTIONS: _, ...inherited } = process.env
  return {
    ...inherited,
    // Of no use to later runs, whose copies have other paths.
    NODE_COMPILE_CACHE: join(folder, "compiled"),
    TAP: "1",
    TAP_TIMEOUT: String((2 * FILE_MILLIS) / 1000),
    TEST_PACKAGES: await bundlePackages(),
    // One Postgres for all copies, which a sabotage cannot change.
    TEST_POSTGRES_KEEPER: join(root, "test/support/postgresKeeper.ts")
  }
}

/** A temporary folder, which exists as long as this process. Tests that are still running then are killed. */
const temporary = (): string => {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), "trunkline-sabotage-")))
  process.once("exit", () => {
    killAll()
    rmSync(folder, { force: true, maxRetries: 3, recursive: true })
  })
  for (const signal of ["SIGHUP", "SIGINT", "SIGTERM"] as const) process.once(signal, () => process.exit(128 + constants.signals[signal]))
  return folder
}

/** Each copy takes the next item as soon as it is done with the one before. */
const inTurn = async <Item>(copies: ReadonlyArray<Copy>, items: ReadonlyArray<Item>, work: (copy: Copy, item: Item) => Promise<void>) => {
  const left = [...items]
  const lane = async (copy: Copy) => {
    for (let item = left.shift(); item !== undefined; item = left.shift()) await work(copy, item)
  }
  await Promise.all(copies.map(lane))
}

/** Without this, a test file that always fails would seem to catch everything. */
const requirePassing = async (copies: ReadonlyArray<Copy>, files: ReadonlyArray<string>): Promise<void> => {
  const failed: Array<string> = []
  const begun = performance.now()
  await inTurn(copies, files, async (copy, file) => {
    const { code, output } = await copy.run(file, FILE_MILLIS)
    if (code !== 0) failed.push(`${file} fails without any sabotage:\n${output.split("\n").slice(-SHOWN_LINES).join("\n")}`)
  })
  if (failed.length > 0) throw new Refused(failed.join("\n\n"))
  print(`${files.length} test files pass without sabotage (${inSeconds((performance.now() - begun) / 1000)})`)
}

const attempt = async (copy: Copy, sabotage: Sabotage): Promise<boolean> => {
  const { caughtBy, file, rule } = sabotage
  const path = copy.path(file)
  const source = readFileSync(path, "utf8")
  writeFileSync(path, sabotaged(source, sabotage))
  const run = await copy.run(caughtBy, FILE_MILLIS)
  writeFileSync(path, source)
  const why = missedBecause(run)
  print(`${why === undefined ? "caught" : "MISSED"}  ${rule}  (${file}, ${inSeconds(run.seconds)})`)
  if (why !== undefined) print(`        ${caughtBy}: ${why}`)
  return why === undefined
}

const main = async (): Promise<boolean> => {
  const chosen = matching([...dispatch, ...border], process.argv[2] ?? "")
  if (chosen.length === 0) throw new Refused("No sabotage matches")
  const faults = chosen.flatMap((sabotage) => faultOf(readFileSync(join(root, sabotage.file), "utf8"), sabotage) ?? [])
  if (faults.length > 0) throw new Refused(faults.join("\n"))
  const folder = temporary()
  const environment = await environmentIn(folder)
  const copies = Array.from({ length: LANES }, (_, lane) => {
    const place = join(folder, String(lane + 1))
    mkdirSync(place)
    return new Copy(root, place, environment)
  })
  await requirePassing(copies, [...new Set(chosen.map(({ caughtBy }) => caughtBy))])
  let caught = 0
  await inTurn(copies, chosen, async (copy, sabotage) => {
    if (await attempt(copy, sabotage)) caught++
  })
  print(`${caught} of ${chosen.length} caught`)
  return caught === chosen.length
}

try {
  process.exitCode = (await main()) ? 0 : 1
} catch (error) {
  if (!(error instanceof Refused)) throw error
  process.stderr.write(`${error.message}\n`)
  process.exitCode = 1
}
