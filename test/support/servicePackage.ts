/** A service of our own, installed like a package from npm that an engine loads. */
import { mkdirSync, writeFileSync } from "node:fs"
import { join } from "node:path"

/**
 * Makes `exported` of a file, whose path is relative to `test`, the default export of the package `name`. The engine must be started in
 * `folder`.
 */
export const installService = (folder: string, name: string, [file, exported]: readonly [file: string, exported: string]): void => {
  const place = join(folder, "node_modules", name)
  mkdirSync(place, { recursive: true })
  writeFileSync(join(place, "package.json"), JSON.stringify({ name, type: "module", exports: "./index.js" }))
  const source = JSON.stringify(new URL(`../${file}`, import.meta.url).href)
  writeFileSync(join(place, "index.js"), `export { ${exported} as default } from ${source}\n`)
}
