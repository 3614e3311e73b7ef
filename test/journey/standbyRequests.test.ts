/** Clients may connect to any engine: one that stands by passes their connections on to the one that dials. */
import t from "tap"
import { WebSocket } from "ws"
import { Api, numbersOf, untilTrue, World } from "#test/support/engine.ts"
import { freePort } from "#test/support/freePort.ts"
import { another, sharing } from "./cluster.ts"

t.test("given an engine that stands by, when clients connect to it", async (t) => {
  const world = await World.open(t, {
    emulator: { media: false, ringMillis: 100, talkMillis: 1000 },
    environment: { ...(await sharing(t)), DRAIN: "0", NODE_ADDRESS: "localhost" }
  })
  const { id } = await world.api.createCampaign(world.agentId, numbersOf(40, ["01"]), { max_concurrency: 3 })
  const port = await freePort()
  const next = await another(t, world, { NODE_NAME: "second", PORT: String(port), TAKEOVER_AFTER: "60" })
  const url = `http://127.0.0.1:${port}`
  const there = new Api(url, world.apiKey)
  await untilTrue("an answer there", () =>
    fetch(`${url}/api/v1/health`).then(
      ({ ok }) => ok,
      () => false
    )
  )
  t.notOk(next.output().includes("is ready"), "then it answers although it does not dial")
  const [told] = await world.sql`SELECT address FROM engine_lock`
  t.match(told?.["address"], /^localhost:\d+$/, "by the address of the other one")

  await t.test("then the engine that dials handles their requests: uploads, changes and reads alike", async (t) => {
    const created = await there.createCampaign(world.agentId, numbersOf(500, ["01"], "+1777"))
    t.equal((await world.api.campaign(created.id)).total_rows, 500)
    await there.start(id)
    await world.seen("answered", 3)
    await there.pause(id)
    const dials = world.emulator.log.count("originate")
    await untilTrue("end of the calls", () => world.emulator.log.live() === 0)
    t.equal(world.emulator.log.count("originate"), dials, "a pause that was confirmed there holds")
    t.equal((await there.ask("GET", "/campaign/999999")).status, 404)
  })

  await t.test("then live events reach their followers there", async (t) => {
    const socket = new WebSocket(`${url.replace("http", "ws")}/api/v1/events/ws`, { headers: { "x-api-key": world.apiKey } })
    t.teardown(() => socket.terminate())
    const types: Array<string> = []
    socket.on("message", (data) => void types.push(String(JSON.parse(String(data)).type)))
    await new Promise((resolve, reject) => {
      socket.once("open", resolve)
      socket.once("error", reject)
    })
    await there.resume(id)
    await untilTrue("event", () => types.some((type) => type.startsWith("campaign.") || type.startsWith("call.")))
  })

  await t.test("when no engine dials, then they are told to retry, and it serves them itself once it has taken over", async (t) => {
    world.engine.kill("SIGSTOP")
    const asked = fetch(`${url}/api/v1/health`).then(
      ({ status }) => status,
      () => "cut"
    )
    world.engine.kill("SIGKILL")
    await world.engine.exited
    t.not(await asked, 200, "a request to an engine that dies is not answered for it")
    const statuses = new Set<number>()
    await untilTrue("answer", async () => {
      const status = await fetch(`${url}/api/v1/health`).then(
        (response) => response.status,
        () => 0
      )
      statuses.add(status)
      return status === 200
    })
    statuses.delete(0)
    t.strictSame(
      [...statuses].filter((status) => status !== 200 && status !== 503),
      []
    )
    await next.ready
    t.equal((await there.campaign(id)).state, "running")
  })
})
