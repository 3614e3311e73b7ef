/** Keyed hashes, compared in constant time. */
import { createHash, createHmac, timingSafeEqual } from "node:crypto"

export const hmac = (algorithm: "sha1" | "sha256", key: string, data: string): Buffer => createHmac(algorithm, key).update(data).digest()

export const sha256Hex = (data: Uint8Array | string): string => createHash("sha256").update(data).digest("hex")

/** The lengths of signatures and keys are not secret. */
const isEqual = (one: Uint8Array, other: Uint8Array): boolean => one.length === other.length && timingSafeEqual(one, other)

/**
 * Compares two texts in constant time, of which one may be missing; an empty text equals nothing. Signatures are compared as text, because several texts
 * decode to the same bytes.
 */
export const isSameText = (one: string | undefined, other: string): boolean =>
  one !== undefined && other !== "" && isEqual(Buffer.from(one), Buffer.from(other))
