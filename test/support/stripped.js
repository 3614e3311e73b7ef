/**
 * Keeps the JavaScript of each source, by a hash of its content, for all test files of a run: `--import` this file. Node strips the types of three
 * hundred sources for each test file otherwise, although it caches what it compiles of them. As Node does, it strips nothing of packages.
 * TEST_PACKAGES is the list of packages that lie bundled (`bundlePackages.ts`).
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
    // Node calls this experimental, although it does the same itself.
    process.emitWarning = () => {}
    const stripped = stripTypeScriptTypes(source.toString())
    process.emitWarning = emitWarning
    // Under another name first, because other processes read it.
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
 * What Node finds as well, but only after it has read package.json and looked for the file three times.
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
    // CommonJS packages would get another shape of a bundled one than they know.
    const isRequired = context.conditions.includes("require")
    const url = isRequired ? undefined : (packages[specifier] ?? sourceOf(specifier, context.parentURL))
    return url === undefined ? next(specifier, context) : { format: "module", shortCircuit: true, url }
  },
  load: (url, context, next) =>
    url.startsWith("file:") && url.endsWith(".ts") && !url.includes("/node_modules/")
      ? { format: "module", shortCircuit: true, source: strippedOf(fileURLToPath(url)) }
      : next(url, context)
})
