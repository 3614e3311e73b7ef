/**
 * How the two ends of a link prove to each other that they have the installation's key, before anything else is said: each seals what the other
 * has made up, for a place of its own, so that neither end's proof can be used as the other's.
 */
import type { Seals } from "#core/Sealer.ts"

/** Whoever has not proved anything yet has little to say. */
export const MOST_BYTES_OF_STRANGERS = 4096

type End = "dispatcher" | "call node"

const placeOf = (end: End, journal: string) => ({ of: `link, ${end}`, organizationId: undefined, id: journal })

/** `journal`: the call node's. */
export const proofOf = (sealer: Seals, end: End, journal: string, nonce: string): string => sealer.seal(placeOf(end, journal), nonce)

/** The proof is as a stranger has sent it: it may be anything. */
export const isProof = (sealer: Seals, end: End, journal: string, nonce: string, proof: unknown): boolean => {
  if (typeof proof !== "string") return false
  try {
    return sealer.open(placeOf(end, journal), proof) === nonce
  } catch {
    return false
  }
}
