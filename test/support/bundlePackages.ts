/**
 * Bundles the packages from which every test file loads hundreds of modules into a few files, for all test files of a run; `stripped.js` redirects
 * imports to them. Modules that several packages import are in the same bundle, so that each exists once per process.
 */
import { createHash } from "node:crypto"
import { existsSync, globSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { fileURLToPath, pathToFileURL } from "node:url"
import { type BuildOptions, type Plugin, build } from "esbuild"

const root = fileURLToPath(new URL("../..", import.meta.url))
const sources = "{adapters,core,deploy,gateway,runtime,test}/**/*.ts"
const imports =
  /(?:from|import) "((?:csv-parse|effect|fast-check|jose|libphonenumber-js|postgres|typebox|ws|@effect\/[a-z-]+)(?:\/[\w/-]+)?)"/g
/** Provides `require` for CommonJS packages that load modules of Node. */
const banner = 'import { createRequire as requireFrom } from "node:module"; const require = requireFrom(import.meta.url);'

/**
 * Replaces the module with which tap follows every promise of a process, to know which test an uncaught error belongs to. Without it, Node itself
 * reports the error and ends the process, which fails the test file.
 */
const noDomain: Plugin = {
  name: "no domain",
  setup: ({ onLoad }) =>
    onLoad({ filter: /[\\/]async-hook-domain[\\/].*\.js$/ }, () => ({ contents: "export class Domain { destroy() {} }" }))
}
/** The files that the bundles depend on. The last one lists the plugins that are built into tap (`npm run pretest`). */
const inputs = [
  "test/support/bundlePackages.ts",
  "node_modules/.package-lock.json",
  "node_modules/@tapjs/test/test-built/dist/esm/index.js"
]
/** tap omits files with such a path from the stack traces that it prints. */
const tapName = "node_modules/@tapjs/tap"

const specifiers = (): ReadonlyArray<string> => {
  const texts = globSync(sources, { cwd: root }).map((file) => readFileSync(join(root, file), "utf8"))
  return [...new Set(texts.flatMap((text) => [...text.matchAll(imports)].map(([, specifier = ""]) => specifier)))].toSorted()
}

/** Returns the path of a JSON file that maps each specifier to the URL of its bundle. */
export const bundlePackages = async (): Promise<string> => {
  const imported = specifiers()
  const key = createHash("sha1").update(imported.join())
  for (const file of inputs) key.update(readFileSync(join(root, file)))
  const cache = join(root, "node_modules/.cache")
  const folder = join(cache, `packages-${key.digest("hex").slice(0, 12)}`)
  const list = join(folder, "packages.json")
  if (existsSync(list)) return list
  const nameOf = (specifier: string) => specifier.replaceAll("/", "+")
  // Written under another name first, because another run may do the same at the same time.
  const draft = `${folder}.${process.pid}`
  mkdirSync(draft, { recursive: true })
  const entries = imported.map((specifier) => [specifier, nameOf(specifier)])
  const options: BuildOptions = {
    absWorkingDir: root,
    banner: { js: banner },
    bundle: true,
    format: "esm",
    logLevel: "warning",
    outdir: draft,
    outExtension: { ".js": ".mjs" },
    platform: "node",
    splitting: true
  }
  await build({ ...options, entryPoints: Object.fromEntries(entries.map(([specifier = "", name]) => [name, specifier])) })
  await build({ ...options, entryPoints: { [tapName]: "tap" }, plugins: [noDomain] })
  const urls = [...entries, ["tap", tapName]].map(([specifier, name]) => [specifier, pathToFileURL(join(folder, `${name}.mjs`)).href])
  writeFileSync(join(draft, "packages.json"), JSON.stringify(Object.fromEntries(urls)))
  try {
    renameSync(draft, folder)
  } catch (error) {
    rmSync(draft, { force: true, recursive: true })
    if (!existsSync(list)) throw error
  }
  return list
}
