/** The engine's own Postgres is killed during a campaign: the engine notices, says so, and continues with another process on the same data. */
import { readFileSync } from "node:fs"
import { join } from "node:path"
import t from "tap"
import { nowMillis, numbersOf, untilTrue, World } from "#test/support/engine.ts"
import { wrote } from "#test/support/EngineProcess.ts"

const cap = 4

t.test("given a campaign on the embedded Postgres, when that one is killed", async (t) => {
  const world = await World.open(t, {
    emulator: { ringMillis: 200, talkMillis: 1000 },
    environment: { DATABASE_URL: "", ORG_CONCURRENCY: "50", RECORDINGS: "off" }
  })
  const { id } = await world.api.createCampaign(world.agentId, numbersOf(400, ["01"]), { max_concurrency: cap })
  await world.api.start(id)
  await world.seen("answered", cap)
  const ready = async () => {
    const response = await fetch(`${world.engine.url}/api/v1/health/ready`)
    return { status: response.status, text: await response.text() }
  }
  t.equal((await ready()).status, 200)
  const pidFile = join(world.dataDir, "postgres", "cluster", "postmaster.pid")
  process.kill(Number(readFileSync(pidFile, "utf8").split("\n")[0]), "SIGKILL")

  await wrote(world, "the embedded Postgres has exited unexpectedly")
  const statuses = new Set<number>()
  const isBack = async () => {
    statuses.add((await ready()).status)
    return world.output().includes("the embedded Postgres runs again")
  }
  await untilTrue("its return", isBack)
  t.ok(statuses.has(503), "then it is not ready in the meantime")
  const back = nowMillis()
  await untilTrue("readiness", async () => (await ready()).status === 200)
  await untilTrue("dials", () => world.emulator.log.entries.filter(({ at, kind }) => kind === "originate" && at > back).length >= cap)
  t.ok(world.emulator.log.mostLive() <= cap, "then the campaign continues, on the same port and within its cap")
  const dials = world.emulator.log.entries.filter(({ kind }) => kind === "originate").map(({ channelId }) => channelId)
  t.equal(new Set(dials).size, dials.length, "and no attempt is dialed twice")
})
