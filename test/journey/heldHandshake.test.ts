/**
 * Asterisk is behind TLS, and its handshakes take seconds. A request that waits for one is sent only if it is still wanted when the connection is
 * established. Judged by the requests that arrive, and by the callees.
 */
import { writeFile } from "node:fs/promises"
import { join } from "node:path"
import t, { type Test } from "tap"
import { temporaryFolder } from "#test/support/dataFolder.ts"
import { contactStates, numbersOf, untilTrue, World } from "#test/support/engine.ts"
import { dialsOf } from "#test/support/neverLeft.ts"
import { variantsOfRun } from "#test/support/partOfRun.ts"
import { cert } from "#test/support/tlsCertificate.ts"
import { startTlsFront, type TlsFront } from "#test/support/tlsFront.ts"

t.jobs = 2

const contacts = 3
/** The duration of a whole handshake. */
const HANDSHAKE_MILLIS = 3500

/** A campaign whose first requests all wait for their handshakes. */
const given = async (t: Test) => {
  const folder = temporaryFolder(t)
  const NODE_EXTRA_CA_CERTS = join(folder, "ca.pem")
  await writeFile(NODE_EXTRA_CA_CERTS, cert)
  const fronts: Array<TlsFront> = []
  t.teardown(() => {
    for (const front of fronts) front.stop()
  })
  const world = await World.open(t, {
    emulator: { media: false, ringMillis: 200, talkMillis: 500 },
    environment: { CALL_RATE: "50", DRAIN: "8", NODE_EXTRA_CA_CERTS, ORG_CONCURRENCY: "50", RECORDINGS: "off" },
    ways: {
      asterisk: async (url) => {
        fronts.push(await startTlsFront(url))
        return fronts[0]?.url ?? url
      }
    }
  })
  const [front] = fronts
  if (front === undefined) throw new Error("the engine was given no way")
  const { api } = world
  // This call connects the trunk, and stays up.
  const first = await world.campaign(numbersOf(1, ["11"]))
  await api.start(first.id)
  await world.seen("answered", 1)
  front.dropIdle()
  front.hold(true)
  const { id } = await world.campaign(numbersOf(contacts, ["01"], "+1556"))
  await api.start(id)
  await untilTrue("requests that wait for their handshakes", () => front.held() >= contacts)
  const began = performance.now()

  const ask = (method: string, path: string, body: object | undefined) =>
    fetch(`${world.engine.url}/api/v1${path}`, {
      headers: { "content-type": "application/json", "x-api-key": world.apiKey },
      method,
      ...(body === undefined ? {} : { body: JSON.stringify(body) })
    })
  return {
    front,
    id,
    world,
    /** Sends a request to the API, and repeats it while the answer is that nothing is confirmed yet. */
    confirmed: async (method: string, path: string, body?: object) => {
      let answer = await ask(method, path, body)
      while (answer.status === 503) {
        t.match(answer.headers.get("retry-after"), /^[0-9]+$/, "what is not confirmed yet says when to ask again")
        await new Promise((resolve) => setTimeout(resolve, 500))
        answer = await ask(method, path, body)
      }
      t.equal(answer.status, 200, `${method} ${path} is confirmed`)
    },
    /** Lets the handshakes finish once they have taken their time. */
    release: async () => {
      const left = HANDSHAKE_MILLIS - (performance.now() - began)
      await new Promise((resolve) => setTimeout(resolve, left))
      front.hold(false)
    },
    dials: () => dialsOf(world).flatMap(({ number }) => (number.startsWith("+1556") ? [number] : []))
  }
}
type Scene = Awaited<ReturnType<typeof given>>
const callees = numbersOf(contacts, ["01"], "+1556")

const archived =
  (status: "active" | "archived") =>
  ({ confirmed, world }: Scene) =>
    confirmed("PUT", `/workflow/${world.agentId}/status`, { status })
const stops: ReadonlyArray<readonly [what: string, stop: (scene: Scene) => Promise<void>, goOn: (scene: Scene) => Promise<void>]> = [
  ["the campaign is paused", ({ confirmed, id }) => confirmed("POST", `/campaign/${id}/pause`), async () => {}],
  ["its agent is archived", archived("archived"), archived("active")]
]
for (const [what, stop, goOn] of variantsOfRun(stops, 1))
  t.test(
    `given requests that wait for their handshakes, when callees opt out and ${what}, then nothing leaves after that is confirmed`,
    { buffered: true },
    async (t) => {
      const scene = await given(t)
      const { confirmed, dials, front, id, release, world } = scene
      const [willing = "", ...unwilling] = callees
      const held = front.held()
      const byHand = "+15570000011"
      const single = world.api.call(world.agentUuid, byHand)
      // Once it is marked as sent, only its request remains.
      await untilTrue("a single call that waits for its handshake", async () => {
        const marked = await world.sql`SELECT 1 FROM attempts WHERE campaign_id IS NULL AND state = 'sent'`
        return marked.length > 0 && front.held() > held
      })
      await confirmed("POST", "/organizations/opt-outs", { phone_numbers: [...unwilling, byHand] })
      await stop(scene)
      t.strictSame(dials(), [])
      await release()
      t.match(await single, { status: 409, body: { detail: /has opted out/ } }, "then the single call is refused, with the reason")
      await untilTrue("end of the handshakes", () => front.held() === 0)
      await untilTrue("nobody who is left half-way", async () => !("dialing" in (await contactStates(world.sql, id))))
      t.strictSame(dials(), [])
      await goOn(scene)
      await world.api.resume(id)
      await world.api.untilState(id, "completed")
      t.strictSame(dials(), [willing], "then who has not opted out is called once, after the resume")
      t.notOk(world.emulator.log.dialsByNumber().has(byHand))
      t.strictSame(await contactStates(world.sql, id), { cancelled: unwilling.length, completed: 1 })
    }
  )

t.test("given requests that wait for their handshakes, when the engine is stopped, then nothing leaves", { buffered: true }, async (t) => {
  const { dials, front, release, world } = await given(t)
  const exited = world.end("SIGTERM")
  // By then the campaigns have stopped, and calls are being given time to end.
  await untilTrue("calls that get time to end", () => world.output().includes("calls get time to end"))
  await release()
  await untilTrue("end of the handshakes", () => front.held() === 0)
  t.equal((await exited).code, 0)
  t.strictSame(dials(), [])
  await world.launch()
  await untilTrue("calls of the next process", () => dials().length === contacts)
  t.strictSame(dials().toSorted(), [...callees].toSorted(), "then each is called once, by the next process")
})
