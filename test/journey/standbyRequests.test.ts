/** Clients may connect to any engine: what only reads it answers itself, everything else it passes to the one that decides. */
import { readFile } from "node:fs/promises"
import t, { type Test } from "tap"
import { WebSocket } from "ws"
import { openPage } from "#test/support/browserCall.ts"
import { Api, numbersOf, untilTrue, World } from "#test/support/engine.ts"
import type { EngineProcess } from "#test/support/EngineProcess.ts"
import { freePort } from "#test/support/freePort.ts"
import { another, sharing } from "./cluster.ts"

interface Scene {
  readonly next: EngineProcess
  readonly there: Api
  readonly url: string
  readonly world: World
}

/** An engine that decides, and a second one that does not, with what clients ask of that one. */
const open = async (t: Test): Promise<Scene> => {
  const world = await World.open(t, {
    emulator: { media: false, ringMillis: 100, talkMillis: 1000 },
    environment: { ...(await sharing(t)), DRAIN: "0", NODE_ADDRESS: "localhost", TRUSTED_PROXIES: "127.0.0.1" }
  })
  const port = await freePort()
  const next = await another(t, world, { NODE_NAME: "second", PORT: String(port), TAKEOVER_AFTER: "60" })
  const url = `http://127.0.0.1:${port}`
  await untilTrue("an engine that is ready", () =>
    fetch(`${url}/api/v1/health/ready`).then(
      ({ ok }) => ok,
      () => false
    )
  )
  await untilTrue("a call node", () => world.output().includes('"node":"second"'))
  return { next, there: new Api(url, world.apiKey), url, world }
}

/** Whether something has arrived at the port of this URL that nobody has read. */
const hasUnread = async (url: string): Promise<boolean> => {
  const port = Number(new URL(url).port).toString(16).toUpperCase().padStart(4, "0")
  const lines = (await readFile("/proc/net/tcp", "utf8")).split("\n")
  return lines.some((line) => new RegExp(`^ *\\d+: [0-9A-F]{8}:${port} .* [0-9A-F]{8}:(?!00000000)[0-9A-F]{8} `).test(line))
}

t.test("given an engine that does not decide, when clients connect to it", async (t) => {
  const { next, there, url, world } = await open(t)
  const headers = { "content-type": "application/json", "x-api-key": world.apiKey }
  t.notOk(next.output().includes("is ready"), "then it answers although it does not decide")
  const { id } = await world.api.createCampaign(world.agentId, numbersOf(40, ["01"]), { max_concurrency: 3 })

  await t.test("then the engine that decides handles uploads and changes, and both say the same", async (t) => {
    const created = await there.createCampaign(world.agentId, numbersOf(500, ["01"], "+1777"))
    t.equal((await world.api.campaign(created.id)).total_rows, 500)
    t.strictSame(await there.campaign(created.id), await world.api.campaign(created.id))
    await there.start(id)
    await world.seen("answered", 3)
    await there.pause(id)
    const dials = world.emulator.log.count("originate")
    await untilTrue("end of the calls", () => world.emulator.log.live() === 0)
    t.equal(world.emulator.log.count("originate"), dials, "a pause that was confirmed there holds")
    t.equal((await there.ask("GET", "/campaign/999999")).status, 404)
    t.equal((await there.ask("POST", "/campaign/999999/start")).status, 404)
    t.match((await there.ask("POST", "/campaign/create", { name: 1 })).status, 422, "refusals come back as they are")
  })

  await t.test("then the client is known by its own address, and nobody can claim another one", async (t) => {
    const forwarded = { "x-forwarded-for": "203.0.113.9" }
    const forged = { "x-forwarded-for": "203.0.113.10", "x-trunkline-passed-by": "198.51.100.1" }
    for (const [at, more] of [
      [url, forwarded],
      [world.engine.url, forged],
      [url, forged]
    ] as const) {
      const sent = { body: JSON.stringify({ name: "a key" }), headers: { ...headers, ...more }, method: "POST" }
      t.equal((await fetch(`${at}/api/v1/user/api-keys`, sent)).status, 200)
    }
    // Written soon after the answer.
    const noted = async () =>
      (await world.sql<Array<{ address: string }>>`SELECT address FROM audit_log WHERE action = 'createApiKey' ORDER BY id`).map(
        ({ address }) => address
      )
    await untilTrue("the notes", async () => (await noted()).length === 3)
    t.strictSame((await noted()).toSorted(), ["203.0.113.10", "203.0.113.10", "203.0.113.9"])
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

  await t.test("then a page that connects there makes its call, and hangs up when it is closed", async (t) => {
    const path = `/workflow/${world.agentId}/runs`
    const { body } = await there.ask("POST", path, { mode: "smallwebrtc", name: "WR-1" })
    const run = body instanceof Object && "id" in body ? Number(body.id) : 0
    const page = openPage(t, `${url}/api/v1/ws/signaling/${world.agentId}/${run}?token=${world.apiKey}`)
    await page.negotiates()
    await untilTrue("a call that is up", async () => {
      const [row] =
        await world.sql`SELECT 1 FROM attempts a JOIN runs r ON r.attempt_id = a.id WHERE r.id = ${run} AND a.state = 'answered'`
      return row !== undefined
    })
    const stranger = openPage(t, `${url}/api/v1/ws/signaling/${world.agentId}/${run}?token=nobody`)
    t.equal((await stranger.closed).code, 4401, "what the other engine says of strangers comes back as it is")
    page.closes()
    await untilTrue("its record", async () => {
      const { body } = await there.ask("GET", `${path}/${run}`)
      return JSON.stringify(body).includes('"call_disposition":"user_hangup"')
    })
  })

  await t.test(
    "when the engine that decides hangs, then what only reads is still answered there, and changes wait for the next one",
    async (t) => {
      world.engine.kill("SIGSTOP")
      t.equal((await there.campaign(id)).state, "running")
      const hanging = fetch(`${url}/api/v1/campaign/${id}/pause`, { headers, method: "POST" })
      await untilTrue("the request at the engine that hangs", () => hasUnread(world.engine.url))
      world.engine.kill("SIGKILL")
      await world.engine.exited
      t.equal((await hanging).status, 502, "a change that the dead one had is neither confirmed nor repeated")
      const pausing = there.pause(id)
      t.equal((await there.campaign(id)).id, id)
      await pausing
      await next.ready
      t.equal((await there.campaign(id)).state, "paused", "one that it did not get is carried out by the engine that takes over")
    }
  )
})
