/** A callback of Twilio, signed as documented: the address without its fragment, then every field by name. */
import { createHmac, randomUUID } from "node:crypto"

export const signed = (url: string, fields: Readonly<Record<string, string>>, authToken: string) => {
  const names = Object.keys(fields).sort((one, other) => Buffer.compare(Buffer.from(one), Buffer.from(other)))
  const data = url.replace(/#.*$/, "") + names.map((name) => name + fields[name]).join("")
  return {
    url,
    headers: {
      "content-type": "application/x-www-form-urlencoded; charset=UTF-8",
      "user-agent": "TwilioProxy/1.1",
      "i-twilio-idempotency-token": randomUUID(),
      "x-twilio-signature": createHmac("sha1", authToken).update(data).digest("base64")
    },
    body: new URLSearchParams(fields).toString()
  }
}
