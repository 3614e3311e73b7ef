/** How fast bytes are accepted, on a clock that the test advances. */
import t from "tap"
import { Pace } from "#core/load/Pace.ts"

const mebibyte = 1024 * 1024
const uploads = { burst: 16 * mebibyte, perSecond: 4 * mebibyte }

t.test("given the largest list that is accepted, when it is sent at full speed, then nothing waits", async (t) => {
  const pace = new Pace<string>(uploads)
  t.strictSame(
    Array.from({ length: 10 }, () => pace.take("a", mebibyte, 0)),
    Array.from({ length: 10 }, () => 0)
  )
})

t.test("given a client that keeps sending, then it waits for its share, and another does not", async (t) => {
  const pace = new Pace<string>(uploads)
  let now = 0
  for (let sent = 0; sent < 100; sent++) now += pace.take("a", mebibyte, now)
  t.ok(now >= 20_000 && now <= 22_000, `84 MiB beyond the first 16 took ${now} ms`)
  t.equal(pace.take("b", mebibyte, now), 0)
})

t.test("given a client that has used its burst, when it pauses, then it may send a burst again", async (t) => {
  const pace = new Pace<string>(uploads)
  for (let sent = 0; sent < 16; sent++) pace.take("a", mebibyte, 0)
  t.ok(pace.take("a", mebibyte, 0) > 0)
  t.equal(pace.take("a", 8 * mebibyte, 10_000), 0)
})

t.test("given a client that is gone, then it is forgotten", async (t) => {
  const pace = new Pace<number>(uploads)
  for (let owner = 0; owner < 100; owner++) pace.take(owner, mebibyte, 0)
  pace.take(0, 1, 60_000)
  t.equal(pace.size, 1)
})
