/** Secrets with a pattern: a client may send back what it was shown, but nothing else that violates the pattern. */
import t from "tap"
import Value from "typebox/value"
import twilio from "#adapters/twilio/twilio.ts"
import { masked, maskedSecret, unmasked } from "#core/provider/Credential.ts"
import { updateTelephonyConfig } from "#gateway/wire/Telephony.ts"

const stored = { account_sid: `AC${"0a".repeat(16)}`, amd_enabled: false, auth_token: "0123456789abcdef0123456789abcdef", from_numbers: [] }
const shown = masked(twilio.fields, stored)
const isTaken = (config: object): boolean =>
  Value.Check(updateTelephonyConfig([twilio]), { config: { provider: "twilio", ...config }, max_concurrent_calls: undefined, name: null })
const brokenBy = (given: Readonly<Record<string, unknown>>): string | undefined =>
  maskedSecret(twilio.fields, unmasked(twilio.fields, given, stored))

t.test("secrets that are sent back as they were shown are accepted, and stand for the stored ones", async (t) => {
  t.match(shown, { auth_token: /^\*{28}cdef$/ })
  t.ok(isTaken(shown))
  t.equal(brokenBy(shown), undefined)
})

t.test("a mask without a stored secret is refused", async (t) => {
  const foreign = { ...shown, auth_token: `${"*".repeat(28)}0000` }
  t.ok(isTaken(foreign), "its form alone does not tell")
  t.equal(brokenBy(foreign), "auth_token")
})

t.test("a text that is neither a mask nor of the right form is refused when it is read", async (t) => {
  for (const auth_token of ["", "short", `${"*".repeat(28)}12345`, "0".repeat(33), `${"0".repeat(31)}g`])
    t.notOk(isTaken({ ...stored, auth_token }), auth_token)
  t.ok(isTaken(stored))
})
