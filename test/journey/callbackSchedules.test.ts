/**
 * A thousand calls whose callbacks arrive repeated, several at once, out of order, late, before the reply to the request and after the end:
 * each is recorded like the same call whose callbacks arrive in order. Cloudonix allows one request per second, so its schedules are in
 * `core/callSchedules.test.ts`.
 */
import t, { type Test } from "tap"
import { carrierNames, carrierOf } from "#test/emulators/hostedCarriers.ts"
import type { HostedEmulator } from "#test/emulators/shared/HostedEmulator.ts"
import { numbersOf, type Witness, World } from "#test/support/engine.ts"
import { freePort } from "#test/support/freePort.ts"
import { seeded } from "#test/support/seeded.ts"

const SEED = 1
const CALLS_PER_CARRIER = 200

const names = carrierNames.filter((name) => name !== "cloudonix")
/** A caller ID for each carrier. */
const ours = names.map((_, index) => `+1555000900${index}`)
/** All durations are ten times shorter than they appear, so that a phone rings for a second and a half. */
const far = { ringMillis: 1000, talkMillis: 4000, timeScale: 0.1, numbers: ours }
/** The callees talk, are busy, never answer, reject, do not exist, cannot be reached, or are reported as not answering. */
const endings = ["01", "02", "01", "03", "12", "07", "01", "08", "01", "09", "01", "13"]

const carriers = await Promise.all(names.map((name) => carrierOf(name).start(far)))
t.teardown(() => Promise.all(carriers.map(({ server }) => server.stop())))

const open = async (t: Test) => {
  const port = await freePort()
  const [first, ...others] = carriers.map(({ account, provider }) => ({ provider, ...account }))
  const world = await World.open(t, {
    account: first ?? {},
    // Nothing is said, so that no audio is needed.
    greeting: "",
    environment: {
      ADAPTERS: ["ari", ...carriers.map(({ provider }) => provider)].join(),
      ORG_CONCURRENCY: "500",
      PORT: String(port),
      PROVIDER_URLS: carriers.map(({ provider, server }) => `${provider}=${server.url}`).join(),
      PUBLIC_URL: `http://127.0.0.1:${port}`,
      RECORDINGS: "off"
    }
  })
  for (const config of others) {
    await world.api.ask("POST", "/organizations/telephony-configs", { name: config.provider, config, is_default_outbound: false })
  }
  const { body } = await world.api.ask("GET", "/organizations/telephony-configs")
  // The cast holds because this is the list of what was just created.
  const { configurations } = body as { readonly configurations: ReadonlyArray<{ readonly id: number; readonly provider: string }> }
  for (const [index, { id }] of configurations.entries())
    await world.api.ask("POST", `/organizations/telephony-configs/${id}/phone-numbers`, { address: ours[index] })
  const configOf = (provider: string) => configurations.find((one) => one.provider === provider)?.id
  return { configOf, world }
}

/** Calls each of these numbers once through the carrier, and waits until all calls are over. */
const callAll = async (
  { configOf, world }: Awaited<ReturnType<typeof open>>,
  { callbacks, provider }: HostedEmulator,
  numbers: ReadonlyArray<string>
) => {
  const settings = { retry: { maxRetries: 0 }, telephony_configuration_id: configOf(provider) }
  const { id } = await world.campaign(numbers, settings)
  await world.api.start(id)
  await world.api.untilState(id, "completed")
  await callbacks.settled()
  return await recordsOf(world.sql, id)
}

interface CallRecord {
  readonly number: string
  readonly contact: string
  readonly outcome: string
  readonly cause: string
  readonly disposition: string
  readonly tags: string
  readonly answered: boolean
  readonly cost: string | null
}
const recordsOf = (sql: Witness, campaignId: number) =>
  sql<Array<CallRecord>>`
    SELECT c.phone_number AS number, c.state AS contact, a.outcome, a.hangup_cause AS cause, a.answered_at IS NOT NULL AS answered,
      r.gathered_context ->> 'call_disposition' AS disposition, r.gathered_context ->> 'call_tags' AS tags, r.cost ->> 'amount' AS cost
    FROM attempts a JOIN contacts c USING (campaign_id, row_no) JOIN runs r ON r.attempt_id = a.id WHERE a.campaign_id = ${campaignId}`

const endingOf = ({ number }: Pick<CallRecord, "number">) => number.slice(-2)
const withoutNumber = ({ cost: _, number: __, ...rest }: CallRecord) => JSON.stringify(rest)

/** First deliveries are up to a second and a half late, and repeats arrive until well after the end. */
const disorderOf = (chance: () => number) => () => {
  const first = chance() < 0.4 ? 0 : chance() * 1500
  const copies = Math.floor(chance() * 3)
  const repeats = Array.from({ length: copies }, () => (chance() < 0.4 ? first : first + chance() * 6000))
  return { after: [first, ...repeats], isAltered: chance() < 0.1 }
}

t.test("given a thousand calls whose callbacks are out of order, then each is recorded as if they were in order", async (t) => {
  const scene = await open(t)
  await Promise.all(
    carriers.map(async (carrier, index) => {
      const { callbacks, log, provider, server } = carrier
      const cost = names.flatMap((name) => (name === provider ? (carrierOf(name).cost ?? []) : []))[0]
      const chance = seeded(SEED + index)
      const inOrder = await callAll(scene, carrier, numbersOf(endings.length, endings, `+121${index}`))
      const expected = new Map(inOrder.map((record) => [endingOf(record), withoutNumber(record)]))
      t.equal(inOrder.length, endings.length, `${provider}: in order`)

      callbacks.plan = disorderOf(chance)
      // A busy machine may take longer than any carrier waits. This test is about the order alone.
      callbacks.timeoutMillis = 300_000
      server.lateness = ({ method }) => (method === "POST" && chance() < 0.3 ? chance() * 600 : 0)
      const before = callbacks.deliveries.length
      const numbers = numbersOf(CALLS_PER_CARRIER, endings, `+131${index}`)
      const records = await callAll(scene, carrier, numbers)
      const deliveries = callbacks.deliveries.slice(before)

      t.equal(records.length, numbers.length, `${provider}: each call has its record`)
      const different = records.filter((record) => withoutNumber(record) !== expected.get(endingOf(record)))
      t.strictSame(different, [], `${provider}: each ends as in order (seed ${SEED})`)
      t.equal(new Set(numbers.map((number) => log.dialsByNumber().get(number))).size, 1, `${provider}: nobody is called twice`)
      const statuses = new Set(deliveries.map(({ status }) => status))
      // If Postgres is late on a busy machine, the carrier is asked to try again.
      statuses.delete(503)
      t.strictSame([...statuses], [200], `${provider}: each delivery and each repeat is taken`)
      const ofOne = Map.groupBy(deliveries, ({ body, url }) => `${url} ${body}`)
      const untaken = [...ofOne.values()].filter((all) => all.every(({ status }) => status !== 200))
      t.equal(untaken.length, 0, `${provider}: at the latest when it is tried again`)
      t.ok(deliveries.length > 4 * CALLS_PER_CARRIER, `${provider}: ${deliveries.length} deliveries`)
      // An answer document depends on the address alone, and is served before anything else about the delivery is known.
      const altered = callbacks.alterations.filter(({ reply }) => reply === "")
      t.strictSame([...new Set(altered.map(({ status }) => status))], [403], `${provider}: altered ones are refused`)
      if (cost === undefined) return
      const told = ({ number }: CallRecord) =>
        deliveries.flatMap(({ body }) => (body.includes(number.slice(1)) ? (cost.exec(body)?.[1] ?? []) : []))[0] ?? null
      t.strictSame(
        records.filter((record) => Number(record.cost) !== Number(told(record))),
        [],
        `${provider}: and costs what the carrier says, once`
      )
    })
  )
})
