/** Reads files out of a tarball as npm packs it: gzip, and tar in the format `ustar`. */
import { gunzipSync } from "node:zlib"

const block = 512

const textAt = (bytes: Uint8Array, from: number, length: number): string => {
  const field = Buffer.from(bytes.buffer, bytes.byteOffset + from, length)
  const end = field.indexOf(0)
  return field.toString("utf8", 0, end === -1 ? length : end)
}

/** The files at these paths, in that order. Throws if one of them is missing. */
export const filesIn = (tarball: Uint8Array, paths: ReadonlyArray<string>): ReadonlyArray<Uint8Array> => {
  const all = gunzipSync(tarball)
  const found = new Map<string, Uint8Array>()
  let at = 0
  while (at + block <= all.length) {
    const name = textAt(all, at, 100)
    const folder = textAt(all, at + 345, 155)
    const size = Number.parseInt(textAt(all, at + 124, 12), 8)
    // Two empty blocks end it.
    if (name === "" || Number.isNaN(size)) break
    const from = at + block
    const path = folder === "" ? name : `${folder}/${name}`
    if (paths.includes(path)) found.set(path, all.subarray(from, from + size))
    at = from + Math.ceil(size / block) * block
  }
  return paths.map((path) => {
    const file = found.get(path)
    if (file === undefined) throw new Error(`it has no ${path}`)
    return file
  })
}
