/** Base64 (RFC 4648) from bytes to bytes, without strings, so that audio frames leave no garbage behind. */

const alphabet = Buffer.from("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/")
const PADDING = 0x3d
const INVALID = 0xff

const values = new Uint8Array(0x100).fill(INVALID)
alphabet.forEach((code, value) => {
  values[code] = value
})

/**
 * Decodes `text` from `from` to `to` into `target`, and returns the number of bytes; -1 if it is not padded base64. `target` must have room for
 * three bytes for every four.
 */
export const decodeBase64 = (text: Uint8Array, from: number, to: number, target: Uint8Array): number => {
  const length = to - from
  if (length % 4 !== 0 || length === 0) return length === 0 ? 0 : -1
  const padding = text[to - 1] === PADDING ? (text[to - 2] === PADDING ? 2 : 1) : 0
  const whole = padding === 0 ? to : to - 4
  let out = 0
  for (let at = from; at < whole; at += 4) {
    const a = valueAt(text, at)
    const b = valueAt(text, at + 1)
    const c = valueAt(text, at + 2)
    const d = valueAt(text, at + 3)
    if ((a | b | c | d) > 63) return -1
    target[out++] = (a << 2) | (b >> 4)
    target[out++] = (b << 4) | (c >> 2)
    target[out++] = (c << 6) | d
  }
  if (padding === 0) return out
  const a = valueAt(text, whole)
  const b = valueAt(text, whole + 1)
  const c = padding === 1 ? valueAt(text, whole + 2) : 0
  if ((a | b | c) > 63) return -1
  target[out++] = (a << 2) | (b >> 4)
  if (padding === 1) target[out++] = (b << 4) | (c >> 2)
  return out
}

/** The length of this many bytes in base64. */
export const base64Length = (bytes: number): number => Math.ceil(bytes / 3) * 4

/** Writes `bytes` in base64 to `target` from `at` on. */
export const encodeBase64 = (bytes: Uint8Array, target: Uint8Array, at: number): void => {
  let out = at
  const whole = bytes.length - (bytes.length % 3)
  for (let from = 0; from < whole; from += 3) {
    const bits = (byteAt(bytes, from) << 16) | (byteAt(bytes, from + 1) << 8) | byteAt(bytes, from + 2)
    target[out++] = codeOf(bits >> 18)
    target[out++] = codeOf(bits >> 12)
    target[out++] = codeOf(bits >> 6)
    target[out++] = codeOf(bits)
  }
  const left = bytes.length - whole
  if (left === 0) return
  const bits = (byteAt(bytes, whole) << 16) | (left === 2 ? byteAt(bytes, whole + 1) << 8 : 0)
  target[out++] = codeOf(bits >> 18)
  target[out++] = codeOf(bits >> 12)
  target[out++] = left === 2 ? codeOf(bits >> 6) : PADDING
  target[out] = PADDING
}

const valueAt = (text: Uint8Array, at: number): number => values[text[at] ?? 0] ?? INVALID
const byteAt = (bytes: Uint8Array, at: number): number => bytes[at] ?? 0
const codeOf = (bits: number): number => alphabet[bits & 63] ?? PADDING
