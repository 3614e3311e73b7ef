/**
 * Bundles the packages of which every test file loads hundreds of modules into a few files, for all test files of a run: `stripped.js` has them
 * loaded instead. What each of them imports of the others is in the same bundle, so that there is one of each in a process.
 */
import { createHash } from "node:crypto"
import { existsSync, globSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { fileURLToPath, pathToFileURL } from "node:url"
import { build } from "esbuild"

const root = fileURLToPath(new URL("../..", import.meta.url))
const sources = "{adapters,core,deploy,gateway,runtime,test}/**/*.ts"
const imports = /(?:from|import) "((?:effect|typebox|@effect\/[a-z-]+)(?:\/[\w/-]+)?)"/g
/** For what CommonJS packages among them require of Node. */
const banner = 'import { createRequire } from "node:module"; const require = createRequire(import.meta.url);'

const specifiers = (): ReadonlyArray<string> => {
  const texts = globSync(sources, { cwd: root }).map((file) => readFileSync(join(root, file), "utf8"))
  return [...new Set(texts.flatMap((text) => [...text.matchAll(imports)].map(([, specifier = ""]) => specifier)))].toSorted()
}

/** The path of a JSON file that names the URL of the bundle for each specifier. */
export const bundlePackages = async (): Promise<string> => {
  const imported = specifiers()
  const installed = readFileSync(join(root, "node_modules/.package-lock.json"))
  const key = createHash("sha1").update(installed).update(imported.join()).digest("hex").slice(0, 12)
  const cache = join(root, "node_modules/.cache")
  const folder = join(cache, `packages-${key}`)
  const list = join(folder, "packages.json")
  if (existsSync(list)) return list
  const nameOf = (specifier: string) => specifier.replaceAll("/", "+")
  // Under another name first, because another run may do the same.
  const draft = `${folder}.${process.pid}`
  mkdirSync(draft, { recursive: true })
  await build({
    absWorkingDir: root,
    banner: { js: banner },
    bundle: true,
    entryPoints: Object.fromEntries(imported.map((specifier) => [nameOf(specifier), specifier])),
    format: "esm",
    logLevel: "warning",
    outdir: draft,
    outExtension: { ".js": ".mjs" },
    platform: "node",
    splitting: true
  })
  const urls = imported.map((specifier) => [specifier, pathToFileURL(join(folder, `${nameOf(specifier)}.mjs`)).href])
  writeFileSync(join(draft, "packages.json"), JSON.stringify(Object.fromEntries(urls)))
  try {
    renameSync(draft, folder)
  } catch (error) {
    rmSync(draft, { force: true, recursive: true })
    if (!existsSync(list)) throw error
  }
  return list
}
