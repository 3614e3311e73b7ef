/**
 * Two engines that call through hosted carriers. Carriers and clients know only the public URL, where a balancer sends each connection to a random one
 * of them; it reaches the engine that has the call or decides. Judged by the log of the carrier's callees.
 */
import t, { type Test } from "tap"
import { startCallNode } from "#test/support/callNode.ts"
import { openBalancer } from "#test/support/balancer.ts"
import { Api, attemptsOf, contactStates, numbersOf, untilTrue, type World } from "#test/support/engine.ts"
import type { EngineProcess, Environment } from "#test/support/EngineProcess.ts"
import { freePort } from "#test/support/freePort.ts"
import { type Carrier, carriers, openThrough } from "#test/support/hostedCarriers.ts"
import { callsIn, deafIn } from "./deaf.ts"
import { sharing } from "./cluster.ts"

// Most of each story is waiting.
t.jobs = 3

const cap = 6
const seed = Number(process.env.SEED ?? 20)

interface Scene {
  readonly balancer: Awaited<ReturnType<typeof openBalancer>>
  readonly carrier: Carrier
  readonly node: EngineProcess
  /** What clients ask of the balancer. */
  readonly through: Api
  readonly world: World
}

/** An engine at a port of its own behind the balancer, where its calls get their audio if it is to go straight there. */
const newFront = async ({ ports }: Pick<Scene["balancer"], "ports">, isStraight: boolean): Promise<Environment> => {
  const port = await freePort()
  ports.add(port)
  return { ...(isStraight ? { MEDIA_URL: `http://127.0.0.1:${port}` } : {}), PORT: String(port) }
}

const open = async (t: Test, name: string, { greeting, isStraight = false, talkMillis }: Way): Promise<Scene> => {
  const carrier = await (carriers[name] ?? (() => Promise.reject(new Error(name))))(t, { ringMillis: 100, talkMillis })
  const balancer = await openBalancer(t, seed)
  const shared = { ...(await sharing(t)), PUBLIC_URL: balancer.url, RING_TIMEOUT: "300" }
  const world = await openThrough(t, carrier, { environment: { ...shared, ...(await newFront(balancer, isStraight)) }, greeting })
  const node = await startCallNode(t, world, "left", await newFront(balancer, isStraight))
  return { balancer, carrier, node, through: new Api(balancer.url, world.apiKey), world }
}

const carriedBy = async ({ sql }: World, id: number, node: string) => {
  const rows = await sql<Array<{ id: string; outcome: string | null; phoneNumber: string }>>`
    SELECT id, outcome, phone_number AS "phoneNumber" FROM attempts WHERE campaign_id = ${id} AND node = ${node} AND state <> 'void'`
  return [...rows]
}

interface Way {
  readonly greeting: string
  readonly talkMillis: number
  /** Each engine gets the audio of its calls at a port of its own, instead of through the dispatcher. */
  readonly isStraight?: boolean
}
const silent: Way = { greeting: "", talkMillis: 400 }
/** Callees wait long for the agent's first word: on a busy machine it comes late. */
const speaking: Way = { greeting: "Hello there, and good morning to all of you.", talkMillis: 12_000 }
const ways: Readonly<Record<string, Way>> = { Plivo: { ...speaking, isStraight: true }, Twilio: speaking, Vonage: speaking }

for (const name of Object.keys(carriers)) {
  t.test(`given ${name} and two engines behind a balancer, when a campaign runs`, { buffered: true }, async (t) => {
    const { greeting, isStraight } = ways[name] ?? silent
    const { balancer, carrier, through, world } = await open(t, name, ways[name] ?? silent)
    const { callbacks, log } = carrier
    callbacks.copies = 2
    const { id } = await world.campaign(numbersOf(18, ["01", "02", "08"]), { max_concurrency: cap, retry: { maxRetries: 0 } })
    await through.start(id)
    await through.untilState(id, "completed")
    t.equal(balancer.counts.size, 2, `both engines have got connections (seed ${seed})`)
    t.strictSame(await contactStates(world.sql, id), { completed: 6, failed: 12 }, "then each contact has the result that its callee gave")
    const dials = log.entries.filter(({ kind }) => kind === "originate")
    t.equal(dials.length, 18, "everybody was called once")
    t.equal(new Set(dials.map(({ number }) => number)).size, 18)
    t.equal(log.live(), 0)
    t.ok(log.mostLive() <= cap, "no call above the cap")
    const its = await carriedBy(world, id, "left")
    t.ok(its.length >= 3, `the call node carries its share: ${its.length}`)
    const outcomes = new Set(its.map(({ outcome, phoneNumber }) => `${phoneNumber.slice(-2)} ${outcome}`))
    for (const known of ["01 answered", "02 busy", "08 failed"]) outcomes.delete(known)
    t.strictSame([...outcomes], [], "and hears how its calls end")
    const answered = callsIn(log, "answered")
    t.strictSame(greeting === "" ? [] : deafIn(log, answered), [], "and every callee hears the agent, if that speaks")
    for (const [at, engine] of ["journey", "left"].entries()) {
      const front = `ws://127.0.0.1:${[...balancer.ports][at]}/`
      const straight = answered.filter((channelId) => log.mediaUrls.get(channelId)?.startsWith(front) === true)
      const heard = isStraight === true ? (await carriedBy(world, id, engine)).filter(({ outcome }) => outcome === "answered") : []
      t.strictSame(
        straight.map((channelId) => log.of(channelId)[0]?.number).toSorted(),
        heard.map(({ phoneNumber }) => phoneNumber).toSorted(),
        `and ${engine} gets the audio of its calls at its MEDIA_URL, if it has one, and of no others`
      )
    }
  })
}

t.test("given calls through Telnyx on a call node, when it is killed", { buffered: true }, async (t) => {
  const { carrier, node, through, world } = await open(t, "Telnyx", silent)
  const { lives, log } = carrier
  const { id } = await world.campaign(numbersOf(12, ["01"]), { max_concurrency: cap, retry: { maxRetries: 0 } })
  lives.letRing(true)
  await through.start(id)
  await untilTrue("calls up to the cap", () => log.count("ringing") === cap)
  const its = new Set((await carriedBy(world, id, "left")).map(({ phoneNumber }) => phoneNumber))
  node.kill("SIGKILL")
  const hungUp = () => log.entries.filter(({ by, kind }) => kind === "ended" && by === "us")
  await untilTrue("the ends of its calls", () => hungUp().length === its.size)
  t.ok(its.size >= 1)
  t.strictSame(new Set(hungUp().map(({ number }) => number)), its, "then its calls are hung up, and no others")
  lives.letRing(false)
  await world.api.untilState(id, "completed")
  const dials = log.entries.filter(({ kind }) => kind === "originate")
  t.equal(new Set(dials.map(({ number }) => number)).size, dials.length, "and nobody is called twice")
})

for (const name of ["Twilio", "Vobiz"]) {
  t.test(
    `given calls through ${name} on two engines behind a balancer, when the one that decides is killed`,
    { buffered: true },
    async (t) => {
      const { balancer, carrier, node, through, world } = await open(t, name, silent)
      const { lives, log } = carrier
      const { id } = await world.campaign(numbersOf(30, ["01"]), { max_concurrency: cap, retry: { maxRetries: 0 } })
      lives.letRing(true)
      await through.start(id)
      await untilTrue("calls up to the cap", () => log.count("ringing") === cap)
      const lost = new Set((await carriedBy(world, id, "journey")).map(({ phoneNumber }) => phoneNumber))
      world.engine.kill("SIGKILL")
      await world.engine.exited
      t.equal((await through.campaign(id)).state, "running", "then the other one still answers")
      world.become({ ...node, url: await node.ready })
      await startCallNode(t, world, "again", await newFront(balancer, false))
      lives.letRing(false)
      await through.untilState(id, "completed")
      const dials = log.entries.filter(({ kind }) => kind === "originate").map(({ number }) => number)
      t.equal(dials.length, 30, "everybody is called")
      t.equal(new Set(dials).size, 30, "and nobody twice")
      t.equal(log.live(), 0)
      t.ok(log.mostLive() <= cap, "no call above the cap")
      const unclear = (await attemptsOf(world.sql, id)).filter(
        ({ outcome, phoneNumber }) => outcome !== "answered" && !lost.has(phoneNumber)
      )
      t.strictSame(unclear, [], "and what became of the calls of the others is known")
      t.ok((await carriedBy(world, id, "again")).length > 0, "a new engine gets its share")
    }
  )
}
