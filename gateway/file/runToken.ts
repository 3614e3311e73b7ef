/**
 * The public token of a run: it shows the run's files to anybody who has it, for a week at most. It is not stored. It is a UUID of version 8
 * that holds the run's id, the half-week in which it was made and, in the remaining bits, a signature of the two.
 */
import { createHmac, timingSafeEqual } from "node:crypto"
import { RunId } from "#core/Id.ts"

const halfWeekSeconds = 302_400
const signatureAt = 6
const tokenBytes = 16
const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/

const signed = (secret: string, id: number, halfWeek: number): Buffer => {
  const token = Buffer.alloc(tokenBytes)
  token.writeUInt32BE(id, 0)
  token.writeUInt16BE(halfWeek, 4)
  createHmac("sha256", secret)
    .update(`run ${id} ${halfWeek}`)
    .digest()
    .copy(token, signatureAt, 0, tokenBytes - signatureAt)
  token.writeUInt8((token.readUInt8(6) & 0x0f) | 0x80, 6)
  token.writeUInt8((token.readUInt8(8) & 0x3f) | 0x80, 8)
  return token
}

/** The token stays the same for half a week, and is valid for half a week after that: for three and a half to seven days. */
export const runToken = (secret: string, id: RunId, nowSeconds: number): string =>
  signed(secret, id, Math.floor(nowSeconds / halfWeekSeconds))
    .toString("hex")
    .replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, "$1-$2-$3-$4-$5")

/** Undefined: the token is not ours, or has expired. */
export const runOfToken = (secret: string, token: string, nowSeconds: number): RunId | undefined => {
  if (!uuid.test(token)) return undefined
  const given = Buffer.from(token.replaceAll("-", ""), "hex")
  const id = given.readUInt32BE(0)
  const halfWeek = given.readUInt16BE(4)
  const isOurs = timingSafeEqual(given, signed(secret, id, halfWeek))
  return isOurs && nowSeconds < (halfWeek + 2) * halfWeekSeconds ? RunId.make(id) : undefined
}
