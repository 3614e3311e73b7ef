/** Phone addresses made comparable, and which number a call shows. */
import { Effect } from "effect"
import fc from "fast-check"
import t from "tap"
import { callerIdFor, isPresentable } from "#core/telephony/CallerId.ts"
import { NationalNumbers } from "#core/telephony/NationalNumbers.ts"
import { type PhoneAddress, parse as parsing } from "#core/telephony/PhoneAddress.ts"
import * as nationalNumbers from "#runtime/telephony/NationalNumbers.ts"
import { internationalOf, numberingPlan } from "#runtime/telephony/numberingPlan.ts"
import { forAll, forAllOf } from "#test/support/forAll.ts"

const national = await Effect.runPromise(Effect.provide(Effect.service(NationalNumbers), nationalNumbers.layer))
/** The address, or the reason why it is refused. */
const parse = (text: string, country?: string): Promise<PhoneAddress | string> =>
  Effect.runPromise(Effect.catchTag(parsing(text, country, national), "PhoneAddressRefused", ({ reason }) => Effect.succeed(reason)))

t.test("given an address, then it has one normal form", async (t) => {
  const check = async (text: string, country: string | undefined, type: string, normalized: string) =>
    t.strictSame(await parse(text, country), { type, normalized }, `${text} ${country ?? ""}`)
  t.test("phone numbers", async () => {
    await check("+1 (555) 010-0001", undefined, "pstn", "+15550100001")
    await check("+41 (0)44 668 18 01", undefined, "pstn", "+41446681801")
    await check("+39 (0)6 1234 5678", undefined, "pstn", "+390612345678")
    await check("  +4930123456 ", "US", "pstn", "+4930123456")
    await check("555 010 0001", "US", "pstn", "+15550100001")
    await check("15550100001", "US", "pstn", "+15550100001")
    await check("030 123456", "DE", "pstn", "+4930123456")
    await check("030 123456", "de", "pstn", "+4930123456")
    await check("004930123456", "DE", "pstn", "+4930123456")
    await check("4930123456", "DE", "pstn", "+4930123456")
    await check("020 7946 0000", "GB", "pstn", "+442079460000")
    await check("06 1234 5678", "IT", "pstn", "+390612345678")
    await check("9123456789", "IN", "pstn", "+919123456789")
    await check("919123456789", "IN", "pstn", "+919123456789")
    await check("45123456", "DK", "pstn", "+4545123456")
    await check("4915112345678", "DE", "pstn", "+4915112345678")
    await check("0612345678901", "IT", "pstn", "+390612345678901")
    await check("05550100001", "US", "pstn", "+15550100001")
    await check("03-1234-5678", "JP", "pstn", "+81312345678")
    await check("8 (912) 345-67-89", "RU", "pstn", "+79123456789")
    await check("06 1 234 5678", "HU", "pstn", "+3612345678")
    await check("01 23 45 67 89", "CI", "pstn", "+2250123456789")
  })
  t.test("SIP addresses", async () => {
    await check("SIP:Sales@PBX.Example.com:5060", undefined, "sip_uri", "sip:Sales@pbx.example.com")
    await check("sips:a@Example.com:5061;transport=TCP", undefined, "sip_uri", "sips:a@example.com;transport=TCP")
    await check("sip:a@example.com:5070", undefined, "sip_uri", "sip:a@example.com:5070")
    await check("sip:Example.com", undefined, "sip_uri", "sip:example.com")
    await check("sip:a@[2001:DB8::1]:5060", undefined, "sip_uri", "sip:a@[2001:db8::1]")
  })
  t.test("extensions", async () => {
    await check("1001", undefined, "sip_extension", "1001")
    await check("Front-Desk", undefined, "sip_extension", "frontdesk")
    await check("1234567890123456", undefined, "sip_extension", "1234567890123456")
  })
})

t.test("given an invalid address, then the reason is given", async (t) => {
  const check = async (text: string, country: string | undefined, why: RegExp) =>
    t.match(await parse(text, country), why, `${text} ${country ?? ""}`)
  await check("5550100001", undefined, /need a country_code/)
  await check("5550100001", "XX", /need a country_code/)
  await check("+1 (0)415 555 0101", undefined, /the zero in brackets/)
  await check("   ", undefined, /empty/)
  await check("( - )", undefined, /neither a digit nor a letter/)
  await check("sip:", undefined, /sip:user@host/)
  await check("sip:a b@c d", undefined, /sip:user@host/)
  await check("+01234567", undefined, /no phone number/)
  await check("000000000", "DE", /no phone number/)
  await check("555010000112345", "FI", /at most 15 digits/)
})

/** Like `parse`, but synchronously, with the same plans. */
const parseNow = (text: string, country: string | undefined): PhoneAddress | string =>
  Effect.runSync(
    Effect.catchTag(
      parsing(text, country, {
        international: (digits, code) => Effect.succeed(internationalOf(digits, code)),
        plan: Effect.succeed(numberingPlan)
      }),
      "PhoneAddressRefused",
      ({ reason }) => Effect.succeed(reason)
    )
  )

t.test("given any text, then normalizing what was normalized changes nothing", async () => {
  const countries = fc.option(fc.constantFrom("US", "DE", "IT", "IN", "GB", "JP"), { nil: undefined })
  const texts = fc.oneof(
    fc.string({ maxLength: 40, size: "max" }),
    fc.stringMatching(/^\+?[0-9 ()-]{0,24}$/),
    fc.stringMatching(/^sips?:[a-zA-Z0-9.@:;=[\]-]{0,30}$/)
  )
  forAllOf({ numRuns: 5000 }, texts, countries, (text, country) => {
    const once = parseNow(text, country)
    if (typeof once === "string") return once.length > 0
    const again = parseNow(once.normalized, country)
    return typeof again === "object" && again.normalized === once.normalized && again.type === once.type
  })
})

t.test("given an E.164 number however it is punctuated, then it is the same in any country", async () => {
  const number = fc.stringMatching(/^\+[1-9][0-9]{7,14}$/)
  forAll(
    number,
    fc.array(fc.constantFrom(" ", "-", "(", ")"), { maxLength: 5 }),
    fc.constantFrom("US", "DE", "IT"),
    (e164, marks, country) => {
      const punctuated = marks.reduce((text, mark, i) => text.slice(0, 2 + 2 * i) + mark + text.slice(2 + 2 * i), e164)
      fc.pre(!punctuated.includes("(0"))
      const { type, normalized } = parseNow(punctuated, country) as { type: string; normalized: string }
      return type === "pstn" && normalized === e164
    }
  )
})

t.test("given caller ids", async (t) => {
  const all = ["+15550000001", "+15550000002", "+15550000003"]
  const callees = Array.from({ length: 3000 }, (_, i) => `+1999${String(i).padStart(7, "0")}`)
  const shown = (numbers: ReadonlyArray<string>) => callees.map((to) => callerIdFor({ all: numbers, preferred: undefined }, to))

  t.test("when one is the default, then every call shows it", async (t) => {
    t.equal(callerIdFor({ all, preferred: "+15550000002" }, "+19990000001"), "+15550000002")
  })
  t.test("when there is none, then nothing is shown", async (t) => {
    t.equal(callerIdFor({ all: [], preferred: undefined }, "+19990000001"), undefined)
  })
  t.test("when none is the default, then callees are spread evenly", async (t) => {
    const counts = Object.values(Object.groupBy(shown(all), (number) => number ?? "")).map((each) => each?.length ?? 0)
    t.equal(counts.length, 3)
    t.ok(Math.min(...counts) > 900 && Math.max(...counts) < 1100, String(counts))
  })
  t.test("when one is removed, then only callees who saw it see another", async (t) => {
    const before = shown(all)
    const after = shown(all.slice(0, 2))
    const moved = before.filter((number, i) => number !== all[2] && number !== after[i])
    t.strictSame(moved, [])
  })
  t.test("when they are read, then digits can be shown, and names cannot", async (t) => {
    t.strictSame(["+15550000001", "1001", "sip:a@b", "frontdesk", ""].map(isPresentable), [true, true, false, false, false])
  })
})
