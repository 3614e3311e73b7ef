/**
 * Runs several test files in one process, one after the other: `batch.ts FILE...`. Modules that several of them import are loaded once. Each
 * file is a subtest, which the file gets when it imports tap. The next file starts when the one before has nothing left to do, which is when a
 * separate process would exit. A file that leaves something open therefore hangs here as well.
 */
import { registerHooks } from "node:module"
import { resolve } from "node:path"
import { Writable } from "node:stream"
import { pathToFileURL } from "node:url"
import root, { type Test } from "tap"

let current: Test = root
export { current }

const tapUrl = "batch:tap"
registerHooks({
  resolve: (specifier, context, next) =>
    specifier === "tap" ? { format: "module", shortCircuit: true, url: tapUrl } : next(specifier, context),
  load: (url, context, next) =>
    url === tapUrl
      ? { format: "module", shortCircuit: true, source: `export { current as default } from ${JSON.stringify(import.meta.url)}` }
      : next(url, context)
})

// Piped directly to standard output, tap would end at the first moment without work, which here comes between two files.
root.pipe(
  new Writable({
    write: (chunk, _encoding, written) => {
      process.stdout.write(chunk)
      written()
    }
  })
)
// `runBatch.ts` limits the time of each file.
root.setTimeout(0)
root.on("bailout", () => process.exit(1))
process.once("SIGALRM", () => {
  process.stderr.write(`${current.name} waits for ${process.getActiveResourcesInfo().join(", ")}\n`)
  process.exit(1)
})
process.once("exit", () => {
  if (root.results === undefined) root.endAll()
})

const idle = () => new Promise<unknown>((settle) => process.once("beforeExit", settle))
const runFiles = async () => {
  for (const file of process.argv.slice(2)) {
    await root.test(file, async (test) => {
      current = test
      await import(pathToFileURL(resolve(file)).href)
    })
    await idle()
    if (process.exitCode !== undefined) process.exit()
  }
  root.end()
}
// Not awaited here, because the files import this module and would wait for it.
void runFiles()
