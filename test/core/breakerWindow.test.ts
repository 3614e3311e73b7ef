/** The circuit breaker's window in memory: it agrees with the record, and never resets before the record has been judged. */
import fc from "fast-check"
import t from "tap"
import { type BreakerEntry, BreakerWindow } from "#core/campaign/BreakerWindow.ts"
import { isTripped } from "#core/campaign/CircuitBreaker.ts"
import { forAll } from "#test/support/forAll.ts"

const config = { enabled: true, failureThreshold: 0.5, minCallsInWindow: 4, windowSeconds: 60 }
const entry = (callId: string, at: number, failure: boolean): BreakerEntry => ({ at, callId, failure })

t.test("given ends that are not on record yet, when enough of them are failures, then it trips before the record is written", async (t) => {
  const window = new BreakerWindow(config, [])
  for (const id of ["a", "b", "c"]) window.ended(entry(id, 1000, true))
  t.notOk(window.isTripped)
  window.ended(entry("d", 2000, false))
  t.ok(window.isTripped)
  t.notOk(window.isSettled)
  for (const id of ["a", "b", "c", "d"]) window.recorded(id, true)
  t.ok(window.isTripped, "then it holds until the record has been judged")
  t.ok(window.isSettled)
})

t.test("given a window that has tripped, when the record does not count one of its ends, then it resets", async (t) => {
  const window = new BreakerWindow(config, [])
  for (const id of ["a", "b", "c", "d"]) window.ended(entry(id, 1000, true))
  window.recorded("a", false)
  t.notOk(window.isTripped)
})

t.test("given a window that has tripped, when the record disagrees, then it follows the record", async (t) => {
  const window = new BreakerWindow(config, [])
  for (const id of ["a", "b", "c", "d"]) window.ended(entry(id, 1000, true))
  for (const id of ["a", "b", "c", "d"]) window.recorded(id, true)
  window.overruled([entry("a", 1000, true), entry("b", 1000, true)])
  t.notOk(window.isTripped)
  window.ended(entry("e", 2000, true))
  t.notOk(window.isTripped)
  window.ended(entry("f", 2000, true))
  t.ok(window.isTripped)
})

t.test("given a restart, then recorded ends count, each only once", async (t) => {
  const window = new BreakerWindow(config, [entry("a", 1000, true), entry("b", 1000, true), entry("c", 1000, true)])
  t.notOk(window.isTripped)
  window.ended(entry("d", 1500, true))
  t.ok(window.isTripped)
})

t.test("given an end that is reported twice, then it counts once", async (t) => {
  const window = new BreakerWindow(config, [])
  for (const id of ["a", "b", "c", "c", "c"]) window.ended(entry(id, 1000, true))
  t.notOk(window.isTripped)
})

t.test("given any ends, recorded at once or late, then it trips exactly when a scan of all of them would", async () => {
  const end = fc.record({ failure: fc.boolean(), late: fc.nat(5), pause: fc.nat(20_000) })
  forAll(fc.array(end, { maxLength: 60, size: "max" }), (ends) => {
    const window = new BreakerWindow(config, [])
    const all: Array<BreakerEntry> = []
    const unrecorded: Array<{ readonly callId: string; late: number }> = []
    let now = 0
    for (const [index, { failure, late, pause }] of ends.entries()) {
      now += pause
      const one = entry(String(index), now, failure)
      all.push(one)
      window.ended(one)
      const inWindow = all.filter(({ at }) => at > now - config.windowSeconds * 1000)
      const expected = isTripped({ config, failures: inWindow.filter((each) => each.failure).length, total: inWindow.length })
      if (window.isTripped !== expected) return false
      // The record judges at once, so that the next end is judged from scratch.
      if (window.isTripped) {
        for (const { callId } of unrecorded.splice(0)) window.recorded(callId, true)
        window.recorded(one.callId, true)
        window.overruled(all)
        continue
      }
      unrecorded.push({ callId: one.callId, late })
      for (const each of unrecorded) each.late--
      for (const { callId } of unrecorded.filter((each) => each.late < 0)) window.recorded(callId, true)
    }
    return true
  })
})
