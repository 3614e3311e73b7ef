/** Signatures of Standard Webhooks: https://github.com/standard-webhooks/standard-webhooks/blob/main/spec/standard-webhooks.md */
import { createHmac } from "node:crypto"

interface SignedMessage {
  readonly id: string
  /** Epoch seconds. */
  readonly timestamp: number
  readonly body: string
}

const keyOf = (secret: string): Buffer => Buffer.from(secret.replace(/^whsec_/, ""), "base64")

/** The value of the `webhook-signature` header: one signature for each secret, separated by spaces. */
export const signatureOf = ({ body, id, timestamp }: SignedMessage, secrets: ReadonlyArray<string>): string =>
  secrets.map((secret) => `v1,${createHmac("sha256", keyOf(secret)).update(`${id}.${timestamp}.${body}`).digest("base64")}`).join(" ")
