/**
 * A number that is called twice within seconds through carriers that accept no id of ours: a call whose reply is lost is searched for by
 * number and time, and the search also finds the earlier call. Judged by the log of the carrier's callees.
 */
import t from "tap"
import { attemptsOf } from "#test/support/engine.ts"
import { carriers, openThrough } from "#test/support/hostedCarriers.ts"

// Most of the time is spent waiting for calls.
t.jobs = 3

const busy = "+15560000002"
const far = { ringMillis: 100, talkMillis: 400 }

for (const name of ["Twilio"])
  t.test(`given ${name}, and a callee who was busy, when the retry's request never arrives`, { buffered: true }, async (t) => {
    const carrier = await carriers[name]?.(t, far)
    if (carrier === undefined) throw new Error(`no carrier ${name}`)
    const world = await openThrough(t, carrier)
    const { id } = await world.campaign([busy], { retry: { maxRetries: 1, retryDelaySeconds: 1 } })
    let requests = 0
    carrier.server.fail({ acts: false, reply: "reset" }, (ask) => carrier.places(ask) && ++requests === 2)
    await world.api.start(id)
    await world.api.untilState(id, "completed")
    const outcomes = (await attemptsOf(world.sql, id)).map(({ outcome }) => outcome)
    t.equal(carrier.log.count("originate"), 1, "then the phone rang only for one call")
    t.strictSame(outcomes, ["busy", "unknown"], "then the retry is not recorded as busy")
  })
