/** How many calls with audio a node accepts, depending on how late their audio is. */
import fc from "fast-check"
import t from "tap"
import { fewestStreams, judge, type MediaLimit, type MediaLoad, unlimited } from "#core/provider/MediaLimit.ts"
import { forAll } from "#test/support/forAll.ts"

const inTime = (streams: number): MediaLoad => ({ streams, due: 50 * streams, late: 0 })
const late = (streams: number, share = 0.2): MediaLoad => ({ streams, due: 50 * streams, late: Math.ceil(50 * streams * share) })
const after = (loads: ReadonlyArray<MediaLoad>, placed: number, from: MediaLimit = unlimited): number =>
  loads.reduce((limit, load) => judge(limit, load, placed), from).limit
const times = (count: number, load: MediaLoad) => Array.from({ length: count }, () => load)

const check = (name: string, loads: ReadonlyArray<MediaLoad>, placed: number, expected: number, from?: MediaLimit) =>
  t.equal(after(loads, placed, from), expected, name)

t.test("a limit", async () => {
  const found: MediaLimit = { limit: 100, tooMany: 111, strained: [], calm: 0 }
  const after20: MediaLimit = { limit: 22, tooMany: 25, strained: [], calm: 0 }
  check("is not there while all is in time", times(1000, inTime(500)), 500, Number.POSITIVE_INFINITY)
  check("is not found by one hiccup, however long", [inTime(200), late(200, 1), late(200, 1), ...times(9, inTime(200))], 200, Infinity)
  check("is found by three late seconds of five", [late(200), inTime(200), late(200), inTime(200), late(200)], 200, 180)
  check("counts what speaks, not what rings", times(3, late(200)), 900, 180)
  check("is not found where few are late", times(99, late(fewestStreams - 1)), 19, Infinity)
  check("is not found where few frames are", times(99, late(200, 0.04)), 200, Infinity)
  check("is never less than the fewest", times(99, late(fewestStreams)), 20, fewestStreams)
  check("is not lowered by calls that were up before", times(3, late(150)), 150, 100, found)
  check("is lowered again once as many as it allows are too many", times(3, late(100)), 100, 90, found)
  check("is raised after ten seconds in time", times(10, inTime(90)), 100, 102, found)
  check("is raised faster once what was too many is not", times(10, inTime(90)), 112, 134, { ...found, limit: 112 })
  check("is back within two minutes where it was a hiccup", times(120, inTime(90)), 999, 105, after20)
  check("is not raised where it holds nobody back", times(100, inTime(90)), 99, 100, found)
  check("is not raised where a second was late", [...times(9, inTime(90)), late(90), ...times(9, inTime(90))], 100, 100, found)
})

t.test("given a machine's capacity, when a campaign fills all room, then audio is late for only a few seconds", async () => {
  const scene = fc.record({ capacity: fc.integer({ min: 30, max: 2000 }), answered: fc.double({ min: 0.2, max: 1, noNaN: true }) })
  forAll(scene, ({ answered, capacity }) => {
    let limit = unlimited
    let placed = 0
    let lateSeconds = 0
    const seconds = 600
    for (let second = 0; second < seconds; second++) {
      // A thirtieth of the calls end in each second, and at most a twentieth of what the machine can carry is dialed.
      placed -= Math.ceil(placed / 30)
      placed += Math.max(0, Math.min(Math.ceil(capacity / 20), limit.limit - placed))
      const streams = Math.round(placed * answered)
      const load = streams > capacity ? late(streams) : inTime(streams)
      if (streams > capacity && second >= 120) lateSeconds++
      limit = judge(limit, load, placed)
      if (second > 120 && limit.limit < Math.min(capacity, placed) * 0.6) return false
    }
    return lateSeconds < (seconds - 120) * 0.2
  })
})
