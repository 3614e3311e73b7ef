/**
 * Ends in callbacks that their carrier has not signed: somebody alters what Vobiz sends, or invents what Cloudonix might send. Judged by the
 * callees' log: a callee who is still talking is not given up, and nobody else is called in their place.
 */
import { request } from "node:http"
import t from "tap"
import { startCloudonixEmulator } from "#test/emulators/cloudonix/CloudonixEmulator.ts"
import type { CarrierAsk } from "#test/emulators/shared/CarrierServer.ts"
import { account, startVobizEmulator } from "#test/emulators/vobiz/VobizEmulator.ts"
import { signed } from "#test/emulators/vobiz/signed.ts"
import { attemptsOf, contactStates, numbersOf, untilTrue } from "#test/support/engine.ts"
import { openThrough, ours } from "#test/support/hostedCarriers.ts"
import { until } from "#test/support/until.ts"

const far = { ringMillis: 100, talkMillis: 400 }

interface Post {
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
}
/** Not `fetch`, which in tests allows documented requests only. */
const post = ({ body, headers, url }: Post) =>
  new Promise<number | undefined>((resolve, reject) => {
    const asked = request(url, { method: "POST", headers }, (response) => {
      response.resume()
      resolve(response.statusCode)
    })
    asked.on("error", reject).end(body)
  })

const looksUp = ({ method, path }: CarrierAsk): boolean => method === "GET" && /\/(Call|cdr)\/[^/?]+/.test(path)

t.test("given a call through Vobiz that is up, and forged hangups, each with a fresh nonce", async (t) => {
  const emulator = await startVobizEmulator({ ...far, numbers: [ours], callsPerSecond: Number.POSITIVE_INFINITY, recordMillis: 2000 })
  t.teardown(() => emulator.stop())
  const { server } = emulator
  // Nothing is said, so that no audio reveals the end.
  const world = await openThrough(t, emulator)
  const numbers = numbersOf(2, ["11"])
  const { id } = await world.campaign(numbers, { max_concurrency: 1, retry: { maxRetries: 1, retryDelaySeconds: 1 } })
  await world.api.start(id)
  const call = await until("call", () => numbers.flatMap((number) => emulator.callsTo(number))[0])
  await untilTrue("answer on record", async () => (await attemptsOf(world.sql, id))[0]?.state === "answered")
  const ringUrl = await until("callback", () => emulator.callbacks.deliveries.find(({ url }) => /\/ring\/|\/ring\b/.test(url))?.url)
  const forged = { CallUUID: call.uuid, Event: "Hangup", HangupCause: "USER_BUSY", CallStatus: "completed", BillDuration: "0" }
  const before = server.requests.filter(looksUp).length
  const began = performance.now()
  const statuses: Array<number | undefined> = []
  for (let n = 0; n < 200; n++) statuses.push(await post(signed(ringUrl, { ...forged, N: String(n) }, account.authToken)))
  t.strictSame([...new Set(statuses)], [200])
  const looks = () => server.requests.filter(looksUp).length - before
  await untilTrue("looks", () => looks() >= 2)
  // A series of five lookups with at most three requests each takes 32 seconds; a claim during its last pause starts another series.
  const series = 1 + Math.floor((performance.now() - began) / 32_000)
  t.ok(looks() <= series * 5 * 3, `then Vobiz gets a few requests, not two hundred: ${looks()} requests`)
  t.equal(emulator.log.live(), 1, "then the callee goes on talking")
  t.equal(emulator.log.entries.filter(({ kind }) => kind === "originate").length, 1, "and nobody is called in their place")
  const [attempt] = await attemptsOf(world.sql, id)
  t.equal(attempt?.state, "answered")

  const other = numbers.find((number) => emulator.callsTo(number).length === 0) ?? ""
  call.hangUp()
  await untilTrue("next call", () => emulator.callsTo(other).length === 1)
  // The line is dialed again before the end of its previous call is recorded.
  const first = await until("end on record", async () => {
    const record = (await attemptsOf(world.sql, id)).find(({ id }) => id === attempt?.id)
    return record?.state === "ended" ? record : undefined
  })
  t.match(
    first,
    { state: "ended", outcome: "answered", cause: "normal_clearing" },
    "when it has ended, then its record says so, although it is late"
  )
  await untilTrue("its answer", () => emulator.log.of(other).some(({ kind }) => kind === "answered"))
  for (const next of emulator.callsTo(other)) next.hangUp()
  await world.api.untilState(id, "completed")
  t.strictSame(await contactStates(world.sql, id), { completed: 2 })
  t.equal(emulator.log.entries.filter(({ kind }) => kind === "originate").length, 2)
})

t.test("given twenty calls through Cloudonix that end at once, and a domain that allows four requests per second", async (t) => {
  const emulator = await startCloudonixEmulator(far)
  t.teardown(() => emulator.stop())
  const { log, server } = emulator
  const world = await openThrough(t, emulator, { environment: { TRUNK_RATE: "2" } })
  const { id } = await world.campaign(numbersOf(21, ["11"]), { max_concurrency: 21, retry: { maxRetries: 0 } })
  await world.api.start(id)
  await untilTrue("answers", () => log.count("answered") === 21)
  await untilTrue("answers on record", async () => (await attemptsOf(world.sql, id)).every(({ state }) => state === "answered"))
  const [last, ...others] = emulator.sessions.values()
  const asked = () => server.requests.filter(({ method, path }) => method === "GET" && path.includes("/sessions"))
  for (const session of others) session.hangUp()
  await untilTrue("ends", async () => (await attemptsOf(world.sql, id)).filter(({ state }) => state === "ended").length === 20)
  t.equal(log.live(), 1, "then the call that is still up is not given up")
  const crowded = asked().some(({ at }, index) => index >= 40 && at - (asked()[index - 40]?.at ?? 0) < 10_000)
  t.notOk(crowded, "then the limit is kept")
  last?.hangUp()
  await world.api.untilState(id, "completed")
  t.strictSame(await contactStates(world.sql, id), { completed: 21 })
  t.equal(log.entries.filter(({ kind }) => kind === "originate").length, 21)
})
