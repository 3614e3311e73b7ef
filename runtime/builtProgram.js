/**
 * Runs a build, and keeps what V8 has compiled of it beside it, so that later starts need not compile it again. That is a quarter of the CPU time
 * of a start. The compile cache of Node knows a module only as it is before it runs, without most of its functions.
 *
 *     0123abcd.../main.js   the build     main.js.x64-1234   its code for one version, processor and set of flags of V8, after a checksum
 */
import { mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs"
import { createRequire, isBuiltin } from "node:module"
import { join } from "node:path"
import { fileURLToPath, pathToFileURL } from "node:url"
import { cachedDataVersionTag } from "node:v8"
import { constants, Script } from "node:vm"
import { crc32 } from "node:zlib"

const checksumBytes = 4
/**
 * Of the build as well: V8 runs code for any source of the same length, and does not check whether the code is intact.
 *
 * @param {Buffer} source
 * @param {Buffer} code
 */
const checksumOf = (source, code) => {
  const checksum = Buffer.alloc(checksumBytes)
  checksum.writeUInt32BE(crc32(code, crc32(source)))
  return checksum
}

/**
 * Undefined unless the file holds intact code of this source.
 *
 * @param {string} file
 * @param {Buffer} source
 */
const readCode = (file, source) => {
  try {
    const content = readFileSync(file)
    const code = content.subarray(checksumBytes)
    return checksumOf(source, code).equals(content.subarray(0, checksumBytes)) ? code : undefined
  } catch {
    return undefined
  }
}

/**
 * Any number of processes may do this at once.
 *
 * @param {string} file
 * @param {Buffer} source
 * @param {Script} script
 */
const writeCode = (file, source, script) => {
  // Fails where nothing can be written, before any time is spent on the code: it takes 50 ms.
  const draft = mkdtempSync(`${file}-`)
  try {
    const code = script.createCachedData()
    writeFileSync(join(draft, "code"), Buffer.concat([checksumOf(source, code), code]))
    renameSync(join(draft, "code"), file)
  } finally {
    rmSync(draft, { recursive: true, force: true })
  }
}

let write = () => {}

/**
 * Keeps all code that has been compiled so far, unless the program was started with kept code. To be called once the program is ready: it has
 * then run what every start runs, and V8 has not yet discarded what ran only once.
 */
export const keepCode = () => {
  try {
    write()
  } catch {
    // The next start compiles the build again.
  }
  write = () => {}
}

/**
 * Finds packages as `import` does.
 *
 * @param {string} file
 */
const requireFor = (file) => {
  const require = createRequire(file)
  return (/** @type {string} */ name) => require(isBuiltin(name) ? name : fileURLToPath(import.meta.resolve(name)))
}

/**
 * Returns what the program exports.
 *
 * @param {string} file A build: a function in ASCII that takes what the program has for `require` and `import.meta`.
 */
export const runBuilt = (file) => {
  const source = readFileSync(file)
  const kept = `${file}.${process.arch}-${cachedDataVersionTag()}`
  const cachedData = readCode(kept, source)
  const script = new Script(source.toString("latin1"), {
    filename: file,
    cachedData,
    importModuleDynamically: constants.USE_MAIN_CONTEXT_DEFAULT_LOADER
  })
  if (cachedData === undefined || script.cachedDataRejected) write = () => writeCode(kept, source, script)
  // The location of this file finds the same packages as that of the build.
  const meta = { url: pathToFileURL(file).href, resolve: (/** @type {string} */ name) => import.meta.resolve(name) }
  return script.runInThisContext()(requireFor(file), meta)
}
