/** PocketSphinx from Debian's packages, unpacked into the cache folder by `deploy/pocketsphinx/install`. */
import { dirname, join } from "node:path"
import { fileURLToPath } from "node:url"
import { findSphinx, type SphinxFiles } from "#adapters/voice/pocketsphinx/SphinxFiles.ts"
import { unavailable } from "./fromDebian.ts"

const install = fileURLToPath(new URL("../../deploy/pocketsphinx/install", import.meta.url))
export const pocketsphinxUnavailable = unavailable(install)

/** The folder that it is installed in. */
export const pocketsphinxRoot = join(process.env["POCKETSPHINX_CACHE"] ?? join(dirname(install), "../../.cache/pocketsphinx"), "root-1")

/** Finds its files. It must have been installed. */
export const pocketsphinx = (): SphinxFiles => {
  const files = findSphinx(pocketsphinxRoot)
  if (files === undefined) throw new Error(`PocketSphinx is not in ${pocketsphinxRoot}`)
  return files
}
