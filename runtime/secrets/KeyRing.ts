/**
 * The keys that seal the secrets in the database: AES-256-GCM with a random nonce, and with the place of the secret as additional data.
 * A seal reads `sealed1:<id of the key>:<nonce, tag and ciphertext in base64>`. The current key makes new seals; former keys only open.
 */
import { createCipheriv, createDecipheriv, createHmac, hkdfSync, randomBytes } from "node:crypto"
import type { Place, Seals } from "#core/Sealer.ts"

export const keyBytes = 32
const cipherName = "aes-256-gcm"
const nonceBytes = 12
const tagBytes = 16
const mark = "sealed1"
const sealHead = /^sealed1:([0-9a-f]{16}):/
const sealPattern = /^sealed1:[0-9a-f]{16}:[A-Za-z0-9+/]+={0,2}$/

interface SecretsKey {
  /** Identifies the key without revealing anything about it. */
  readonly id: string
  readonly cipherKey: Buffer
}

export const secretsKey = (bytes: Uint8Array): SecretsKey => ({
  id: createHmac("sha256", bytes).update("trunkline: the name of this key").digest("hex").slice(0, 16),
  cipherKey: Buffer.from(hkdfSync("sha256", bytes, "", "trunkline: sealed secrets", keyBytes))
})

/** Reads base64, base64url or hexadecimal. Undefined if the text is not 32 bytes. */
export const keyBytesOf = (text: string): Buffer | undefined => {
  if (/^[0-9a-f]{64}$/i.test(text)) return Buffer.from(text, "hex")
  const bytes = /^[A-Za-z0-9+/_-]{43}=?$/.test(text) ? Buffer.from(text, "base64url") : undefined
  return bytes?.length === keyBytes ? bytes : undefined
}

const dataOf = ({ id, of, organizationId }: Place): Buffer => Buffer.from(JSON.stringify([of, organizationId ?? null, id]))

export interface KeyRing {
  readonly current: SecretsKey
  /** Keys used only for opening. */
  readonly former: ReadonlyArray<SecretsKey>
}

/** The start of every seal made with the key. */
export const prefixOf = ({ id }: SecretsKey): string => `${mark}:${id}:`

export const sealsOf = ({ current, former }: KeyRing): Seals => {
  const keys = new Map([...former, current].map((key) => [key.id, key]))
  return {
    isSealed: (text) => sealPattern.test(text),
    seal: (place, text) => {
      const nonce = randomBytes(nonceBytes)
      const cipher = createCipheriv(cipherName, current.cipherKey, nonce, { authTagLength: tagBytes }).setAAD(dataOf(place))
      const hidden = Buffer.concat([cipher.update(text, "utf8"), cipher.final()])
      return `${prefixOf(current)}${Buffer.concat([nonce, cipher.getAuthTag(), hidden]).toString("base64")}`
    },
    open: (place, sealed) => {
      // Only the start is matched, because a secret may be long; opening it verifies the rest.
      const [prefix = "", id = ""] = sealHead.exec(sealed) ?? []
      const hidden = sealed.slice(prefix.length)
      const where = `in ${place.of}, ${place.id}`
      const key = keys.get(id)
      if (key === undefined)
        throw new Error(id === "" ? `No seal ${where}` : `A secret ${where} is sealed with key ${id}, which is not here`)
      const bytes = Buffer.from(hidden, "base64")
      const nonce = bytes.subarray(0, nonceBytes)
      const tag = bytes.subarray(nonceBytes, nonceBytes + tagBytes)
      const opening = createDecipheriv(cipherName, key.cipherKey, nonce, { authTagLength: tagBytes }).setAAD(dataOf(place)).setAuthTag(tag)
      try {
        return opening.update(bytes.subarray(nonceBytes + tagBytes), undefined, "utf8") + opening.final("utf8")
      } catch {
        throw new Error(`A secret ${where} was altered, or sealed for another place`)
      }
    }
  }
}
