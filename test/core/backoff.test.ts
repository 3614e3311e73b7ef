import fc from "fast-check"
import t from "tap"
import { nextTryIn, pauseAfter, retryAfterOf, triesInAll } from "#core/webhook/Backoff.ts"
import { forAll } from "#test/support/forAll.ts"

const HOUR = 3_600_000
const tries = fc.integer({ min: 1, max: triesInAll - 1 })
const chances = fc.double({ min: 0, max: 1, noNaN: true })
const inTheMiddle = (tries: number, retryAfterMillis?: number) => nextTryIn({ tries, chance: 0.5, retryAfterMillis })

t.test("given a webhook that is not accepted", async (t) => {
  t.test("when it fails, then each retry waits longer, and there is none after the last", async (t) => {
    const seconds = Array.from({ length: triesInAll }, (_, before) => (inTheMiddle(before + 1) ?? Number.NaN) / 1000)
    t.strictSame(seconds, [5, 300, 1800, 7200, 18_000, 36_000, 50_400, 72_000, 86_400, Number.NaN])
  })

  t.test("when jitter is applied, then the wait varies by a tenth", async () => {
    forAll(tries, chances, (tries, chance) => {
      const [wait = 0, middle = 0] = [nextTryIn({ tries, chance, retryAfterMillis: undefined }), inTheMiddle(tries)]
      return wait >= middle * 0.9 - 1 && wait <= middle * 1.1 + 1
    })
  })

  t.test("when the endpoint asks for another time, then the retry is never sooner, and at most a day later", async (t) => {
    t.equal(inTheMiddle(1, 60_000), 60_000)
    t.equal(inTheMiddle(2, 60_000), 300_000)
    t.equal(inTheMiddle(1, 1000 * HOUR), 24 * HOUR)
    t.equal(inTheMiddle(triesInAll, 1000), undefined)
  })
})

t.test("given a Retry-After header", async (t) => {
  const at = Date.UTC(2026, 0, 1)
  const check = (header: string, expected: number | undefined) =>
    t.test(`when it is "${header}", then ${expected}`, async (t) => t.equal(retryAfterOf(header, at), expected))
  check("120", 120_000)
  check("0", 0)
  check("", undefined)
  check("-5", undefined)
  check("1.5", undefined)
  check("soon", undefined)
  check("Thu, 01 Jan 2026 00:01:00 GMT", 60_000)
  check("Wed, 31 Dec 2025 23:59:00 GMT", 0)
})

t.test("given an endpoint whose turns fail", async (t) => {
  t.test("when they fail in a row, then it rests longer each time, up to a minute", async (t) => {
    t.strictSame([0, 1, 2, 3, 6, 7, 1000].map(pauseAfter), [0, 1000, 2000, 4000, 32_000, 60_000, 60_000])
  })
})
