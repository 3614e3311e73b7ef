/** Reads the memory layout of a WebAssembly program from its bytes. https://webassembly.github.io/spec/core/binary/modules.html */

const headerBytes = 8
const dataSection = 11
const i32const = 0x41
const end = 0x0b

/** Reads LEB128 numbers and single bytes in sequence. */
const makeReader = (bytes: Uint8Array, from: number) => {
  let at = from
  const byte = () => bytes[at++] ?? 0
  const number = () => {
    let value = 0
    for (let scale = 1; ; scale *= 0x80) {
      const part = byte()
      value += (part & 0x7f) * scale
      if (part < 0x80) return value
    }
  }
  return {
    byte,
    number,
    at: () => at,
    skip: (count: number) => {
      at += count
    }
  }
}

/**
 * The address of the last segment of the program's initial data. Linkers put read-only data before everything else. Throws if the data is not
 * laid out that way.
 */
export const lastDataAt = (program: Uint8Array): number => {
  const reader = makeReader(program, headerBytes)
  while (reader.at() < program.length) {
    const section = reader.byte()
    const size = reader.number()
    if (section !== dataSection) {
      reader.skip(size)
      continue
    }
    let last = 0
    for (let left = reader.number(); left > 0; left--) {
      const mode = reader.number()
      const instruction = reader.byte()
      const address = reader.number()
      if (mode !== 0 || instruction !== i32const || reader.byte() !== end || address < last) break
      last = address
      if (left === 1) return last
      reader.skip(reader.number())
    }
    break
  }
  throw new Error("the program's data is not laid out as expected")
}
