/**
 * Caches the JavaScript of each source, by a hash of its content, for all test files of a run: load it with `--import`. Otherwise Node strips the types
 * of three hundred sources for each test file, although it caches the compiled code. Like Node, it strips no types in packages.
 * TEST_PACKAGES names the file that lists the bundled packages (`bundlePackages.ts`).
 */
import { createHash } from "node:crypto"
import { mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs"
import { registerHooks, stripTypeScriptTypes } from "node:module"
import { join } from "node:path"
import { fileURLToPath } from "node:url"

const folder = fileURLToPath(new URL(`../../node_modules/.cache/stripped-${process.version}`, import.meta.url))
mkdirSync(folder, { recursive: true })

/** @param {string} file */
const strippedOf = (file) => {
  const source = readFileSync(file)
  const kept = join(folder, createHash("sha1").update(source).digest("hex"))
  try {
    return readFileSync(kept, "utf8")
  } catch {
    const { emitWarning } = process
    // Node warns that this is experimental, although Node itself strips types in the same way.
    process.emitWarning = () => {}
    const stripped = stripTypeScriptTypes(source.toString())
    process.emitWarning = emitWarning
    // It is written under another name first, because other processes may read it.
    const draft = `${kept}.${process.pid}`
    writeFileSync(draft, stripped)
    renameSync(draft, kept)
    return stripped
  }
}

const list = process.env["TEST_PACKAGES"]
/** @type {Readonly<Record<string, string>>} */
const packages = list === undefined ? {} : JSON.parse(readFileSync(list, "utf8"))

const root = new URL("../../", import.meta.url).href
/**
 * Finds the same file as Node, which would read package.json and look for the file three times.
 *
 * @param {string} specifier
 * @param {string | undefined} parent
 */
const sourceOf = (specifier, parent) => {
  if (!specifier.endsWith(".ts") || !parent?.startsWith(root) || parent.includes("/node_modules/")) return undefined
  if (specifier.startsWith("#")) return root + specifier.slice(1)
  return specifier.startsWith("./") || specifier.startsWith("../") ? new URL(specifier, parent).href : undefined
}

registerHooks({
  resolve: (specifier, context, next) => {
    // CommonJS packages would get a bundled package in an unexpected shape.
    const isRequired = context.conditions.includes("require")
    const url = isRequired ? undefined : (packages[specifier] ?? sourceOf(specifier, context.parentURL))
    return url === undefined ? next(specifier, context) : { format: "module", shortCircuit: true, url }
  },
  load: (url, context, next) =>
    url.startsWith("file:") && url.endsWith(".ts") && !url.includes("/node_modules/")
      ? { format: "module", shortCircuit: true, source: strippedOf(fileURLToPath(url)) }
      : next(url, context)
})
