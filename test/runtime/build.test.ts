/** `runtime/build.js`, in separate processes: a start always runs what the current sources say. */
import { execFile } from "node:child_process"
import { mkdirSync, writeFileSync } from "node:fs"
import { basename, join, relative } from "node:path"
import { fileURLToPath } from "node:url"
import { promisify } from "node:util"
import t, { type Test } from "tap"
import { programOf, root } from "#test/support/builtPrograms.ts"

const builder = fileURLToPath(new URL("../../runtime/build.js", import.meta.url))
const launcher = fileURLToPath(new URL("../../runtime/start.js", import.meta.url))
const startMillis = 600_000

/** A program of two files. */
const program = (t: Test, said: string) =>
  programOf(t, {
    "main.ts":
      'import { word } from "./word.ts"\nconsole.log(word as string, import.meta.url, new Error().stack?.includes(".build") ?? false)\n',
    "word.ts": `export const word: string = "${said}"\n`
  })

/** What the program prints: its word, its address, and whether a build of it ran. */
const start = async (path: string) => {
  const script = `await (await import(${JSON.stringify(builder)})).load(${JSON.stringify(relative(root, path))})`
  // Without tap's environment, which makes every Node process report its coverage.
  const run = promisify(execFile)(process.execPath, ["--input-type=module", "-e", script], { env: {}, timeout: startMillis })
  const { stderr, stdout } = await run
  const [word, url, isBuilt] = stdout.trim().split(" ")
  return { word, file: fileURLToPath(url ?? ""), isBuilt: isBuilt === "true", stderr }
}

t.test("given a program, when it is started, then it runs as a build and finds what lies beside its source", async (t) => {
  const { path } = program(t, "one")
  t.has(await start(path), { word: "one", file: path, isBuilt: true, stderr: "" })
})

t.test("given a build, when any of its sources has changed, then the next start runs the change", async (t) => {
  const { path, write } = program(t, "one")
  await start(path)
  write("word.ts", 'export const word: string = "two"\n')
  t.has(await start(path), { word: "two", isBuilt: true })
  write("word.ts", 'export const word: string = "one"\n')
  t.has(await start(path), { word: "one", isBuilt: true })
})

t.test("given a build, when a file is replaced by one with another name, then the new one runs", async (t) => {
  const { path, write } = program(t, "one")
  await start(path)
  write("other.ts", 'export const word: string = "other"\n')
  write(basename(path), 'import { word } from "./other.ts"\nconsole.log(word, import.meta.url, new Error().stack?.includes(".build"))\n')
  t.has(await start(path), { word: "other", isBuilt: true })
})

t.test("given many starts at the same time without a build, when each builds, then all run", async (t) => {
  const { path } = program(t, "one")
  const starts = await Promise.all([start(path), start(path), start(path)])
  t.strictSame(
    starts.map(({ isBuilt, word }) => [word, isBuilt]),
    starts.map(() => ["one", true])
  )
})

t.test("given a folder for builds that cannot be written, when a program is started, then its sources run, and it says so", async (t) => {
  const { path } = program(t, "one")
  mkdirSync(join(root, ".build"), { recursive: true })
  writeFileSync(join(root, ".build", basename(path, ".ts")), "no folder")
  const started = await start(path)
  t.has(started, { word: "one", isBuilt: false })
  t.match(started.stderr, "runs from its sources")
})

t.test("given an adapter from npm, when the engine is started, then its sources run, so that both have the same effect", async (t) => {
  const folder = t.testdir({
    node_modules: {
      acme: {
        "package.json": '{ "name": "acme", "type": "module", "exports": "./index.js" }',
        "index.js": "export default { get manifest() { return { contract: new Error().stack } } }"
      }
    }
  })
  const env = { ADAPTERS: "ari,acme", DATABASE_URL: "postgres://127.0.0.1:1/none" }
  const ended = await promisify(execFile)(process.execPath, [launcher], { cwd: folder, env, timeout: startMillis }).catch((error) => error)
  t.match(ended.stderr, "The package acme is not an adapter for this engine")
  t.match(ended.stderr, "runtime/adapterPackage.ts")
  t.notMatch(ended.stderr, ".build")
})
