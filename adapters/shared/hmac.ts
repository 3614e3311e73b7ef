/** Keyed hashes, compared in constant time. */
import { createHash, createHmac, timingSafeEqual } from "node:crypto"

export const hmac = (algorithm: "sha1" | "sha256", key: string, data: string): Buffer => createHmac(algorithm, key).update(data).digest()

export const sha256Hex = (data: Uint8Array | string): string => createHash("sha256").update(data).digest("hex")

/** Compares in constant time. The lengths of signatures and keys are not secret. */
export const isEqual = (one: Uint8Array, other: Uint8Array): boolean => one.length === other.length && timingSafeEqual(one, other)

/** The same for two texts, of which one may be missing; an empty text equals nothing. */
export const isSameText = (one: string | undefined, other: string): boolean =>
  one !== undefined && other !== "" && isEqual(Buffer.from(one), Buffer.from(other))
