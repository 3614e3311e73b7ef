/** The faults: what is done to the engine and its connections, one at a time. Each leaves no fault active. */
import { fates, type Fate } from "#test/support/HttpProxy.ts"
import type { Connection } from "#test/support/TcpProxy.ts"
import { nowMillis, until, untilTrue } from "#test/support/until.ts"
import { callNodeFaults } from "./callNodeFaults.ts"
import { down, type Fault, on } from "./Fault.ts"
import type { Stage } from "./Stage.ts"

const stepMillis = 45_000
const isEvents = ({ opening }: Connection) => opening.startsWith("GET /ari/events")

const toRequests = (fate: Fate): Fault => ({
  name: `requests: ${fate.name}`,
  of: "a request",
  run: async (stage) => {
    stage.befall(fate, 2)
    const before = stage.asterisk.exchanges.length
    const befallen = () => stage.asterisk.exchanges.slice(before).filter((each) => each.fate === fate.name).length
    // Once all campaigns are over, no further request comes.
    await untilTrue("requests", async () => befallen() === 2 || (await stage.tend()) === stage.campaigns.length).catch(() => {})
  }
})

/** Kills an engine while it starts. */
const stillborn = async (stage: Stage) => {
  const life = stage.world.spawn()
  const moment = stage.between(500, 4000)
  await Promise.race([
    life.ready.then(() => stage.progress(3, moment)).catch(() => {}),
    new Promise((resolve) => setTimeout(resolve, moment))
  ])
  stage.kills.push(nowMillis())
  life.kill("SIGKILL")
  await life.exited
}

const engineFaults = on("the engine", {
  "the engine is killed": (stage) => down(stage, "SIGKILL"),
  "the engine is killed, and killed again as it starts": (stage) => down(stage, "SIGKILL", () => stillborn(stage)),
  "the engine is stopped": (stage) => down(stage, "SIGTERM"),
  "the engine stands still": (stage) =>
    stage.deafened("the engine stood still", async () => {
      stage.world.engine.kill("SIGSTOP")
      await stage.progress(1000, stage.between(3000, 8000))
      stage.world.engine.kill("SIGCONT")
    }),
  "the engine is killed while a request is held": async (stage) => {
    stage.befall(fates.hold(8000), 2)
    await stage.progress(4, 5000)
    await down(stage, "SIGKILL")
  }
})

/** Faults of several engines. An engine that is replaced while it is frozen ends by itself when it wakes up. */
const nodeFaults = on("the engine", {
  "the engine stands still until another one has taken over": async (stage) => {
    const { engine } = stage.world
    stage.kills.push(nowMillis())
    await stage.deafened("the engine stood still", async () => {
      engine.kill("SIGSTOP")
      await stage.nodes?.untilReplaced(engine.pid)
    })
    await stage.progress(10, 3000)
    engine.kill("SIGCONT")
    await engine.exited
  },
  "the engine that takes over is killed as well": async (stage) => {
    await down(stage, "SIGKILL")
    await stage.progress(1, 500)
    await down(stage, "SIGKILL")
  }
})

const clockFaults = on("its clock", {
  "the clock is set forward, and back": async (stage) => {
    stage.world.engine.stepClock(stepMillis)
    await stage.progress(10, 5000)
    stage.world.engine.stepClock(-stepMillis)
  },
  "the clock is set back into the closed window": async (stage) => {
    const [big] = stage.campaigns
    if (big === undefined) return
    const closings = async () => (await stage.eventsOf(big.id))["schedule_window_closed"] ?? 0
    const before = await closings()
    const backMillis = stage.sinceClosedMillis()
    stage.world.engine.stepClock(-backMillis)
    const noticed = await until("closed window", async () => ((await closings()) > before ? nowMillis() : undefined), 8000).catch(
      () => undefined
    )
    await stage.progress(20, 4000)
    if (noticed === undefined) stage.say("  the campaign has not noticed it")
    else big.closed.push({ from: noticed, until: nowMillis() })
    stage.world.engine.stepClock(backMillis)
  }
})

const asteriskFaults = on("the way to Asterisk", {
  "all connections to Asterisk are cut": async (stage) => stage.cut(),
  "the events' websocket is cut": async (stage) => stage.cut(isEvents),
  "the connections to Asterisk fall silent": (stage) =>
    stage.deafened("silent connections to Asterisk", async () => {
      stage.asterisk.tcp.freeze()
      await stage.progress(1000, stage.between(4000, 9000))
      stage.asterisk.tcp.thaw()
    }),
  "the way to Asterisk falls silent, and breaks": (stage) =>
    stage.deafened("a silent way to Asterisk", async () => {
      stage.asterisk.tcp.freezeAll()
      await stage.progress(1000, stage.between(3000, 6000))
      stage.cut()
      stage.asterisk.tcp.thaw()
    }),
  "Asterisk refuses connections": async (stage) => {
    await stage.asterisk.tcp.refuse(true)
    stage.cut()
    await stage.progress(1000, 3000)
    await stage.asterisk.tcp.refuse(false)
  },
  "Asterisk is restarted": async (stage) => {
    stage.cuts.push(nowMillis())
    stage.world.emulator.crash()
  },
  "the way to Asterisk is slow": (stage) =>
    stage.deafened("a slow way to Asterisk", async () => {
      stage.asterisk.tcp.delayMillis = 400
      await stage.progress(20, 6000)
      stage.asterisk.tcp.delayMillis = 0
    }),
  "events come late": (stage) =>
    stage.deafened("late events", async () => {
      stage.world.emulator.delayEvents(1500)
      await stage.progress(20, 5000)
      stage.world.emulator.delayEvents(0)
    })
})

const databaseFaults = on("the database", {
  "all connections to the database are cut": async (stage) => stage.database.tcp.cut(),
  "replies to commits are lost": async (stage) => {
    stage.database.loseCommits("reply", 3)
    await stage.progress(10, 4000)
  },
  "commits are lost": async (stage) => {
    stage.database.loseCommits("request", 3)
    await stage.progress(10, 4000)
  },
  "commits are slow": async (stage) => {
    stage.database.delayCommits(stage.between(30, 300))
    await stage.progress(30, 6000)
  },
  "the connections to the database fall silent": (stage) =>
    stage.unrecorded("silent connections to the database", async () => {
      stage.database.tcp.freeze()
      await stage.progress(1000, stage.between(4000, 12_000))
      stage.database.tcp.thaw()
    }),
  "the database refuses connections": (stage) =>
    stage.unrecorded("a database that refuses connections", async () => {
      await stage.database.tcp.refuse(true)
      stage.database.tcp.cut()
      await stage.progress(1000, stage.between(2000, 6000))
      await stage.database.tcp.refuse(false)
    }),
  "the engine is killed while the database is silent": async (stage) => {
    stage.database.tcp.freeze()
    await stage.progress(6, 3000)
    await down(stage, "SIGKILL", async () => stage.database.tcp.cut())
  }
})

/** What several engines tell each other by it may be lost; nothing else may. */
const redisFaults = on("Redis", {
  "Redis is wiped": async ({ redis }) => redis?.wipe(),
  "Redis is killed, and started again": async (stage) => {
    await stage.redis?.stop()
    await stage.progress(30, 6000)
    await stage.redis?.start()
  },
  "Redis stands still": async (stage) => {
    stage.redis?.freeze()
    await stage.progress(30, 6000)
    stage.redis?.wake()
  }
})

const pause = async (stage: Stage) => {
  const member = stage.campaigns[stage.chance() < 0.7 ? 0 : 1]
  const confirmed = member === undefined ? undefined : await stage.pause(member)
  if (member === undefined || confirmed === undefined) return
  await stage.progress(12, 4000)
  await stage.resume(member, confirmed)
}
const pauses = on("a campaign", {
  "a campaign is paused, and resumed": pause,
  "a campaign is paused while the way to Asterisk is slow": async (stage) => {
    stage.asterisk.tcp.delayMillis = 300
    await pause(stage)
  }
})

/**
 * Longer than an attempt is waited for: the call appears after it was written off. In the short form the doubt about it outlives the story,
 * because the engine is killed in the meantime, so its number stays blocked.
 */
const heldForLong = toRequests(fates.hold(54_000))
const everyFault: ReadonlyArray<Fault> = [
  ...[
    fates.errorAfterForwarding(),
    fates.errorAfterForwarding(504),
    fates.errorThenForwarded(504, 6000),
    fates.resetAfterForwarding,
    fates.resetThenForwarded(9000),
    fates.reset,
    fates.loseReply,
    fates.swallow,
    fates.hold(5000),
    fates.hold(25_000),
    fates.error(503),
    fates.error(429, { "retry-after": "2" })
  ].map(toRequests),
  heldForLong,
  ...engineFaults,
  ...clockFaults,
  ...asteriskFaults,
  ...databaseFaults,
  ...pauses
]

/** Faults of a single engine that several cannot have: it is not started by the story. */
const ofOne: ReadonlySet<string> = new Set(["the engine is killed, and killed again as it starts", "the engine stands still"])
const everyFaultOfNodes: ReadonlyArray<Fault> = [
  ...everyFault.filter(({ name }) => !ofOne.has(name)),
  ...nodeFaults,
  ...callNodeFaults,
  ...redisFaults
]

/** All faults for one engine, or for several, in random order. */
export const allFaults = ({ chance, nodes }: Pick<Stage, "chance" | "nodes">): ReadonlyArray<Fault> =>
  shuffled(chance, nodes === undefined ? everyFault : everyFaultOfNodes)

/** Any of the faults that kill. */
export const aKill = (stage: Pick<Stage, "chance" | "nodes">): Fault => {
  const [kill] = allFaults(stage).filter(({ name }) => / (is|are) killed/.test(name))
  if (kill === undefined) throw new Error("no fault kills")
  return kill
}

const shuffled = (chance: () => number, faults: ReadonlyArray<Fault>): ReadonlyArray<Fault> =>
  faults
    .map((fault) => ({ fault, place: chance() }))
    .toSorted((a, b) => a.place - b.place)
    .map(({ fault }) => fault)

const named = (...names: ReadonlyArray<string>) => everyFault.filter(({ name }) => names.includes(name))
/** Some for several engines. */
export const fewOfNodes = (chance: () => number): ReadonlyArray<Fault> =>
  shuffled(chance, [
    ...nodeFaults,
    ...callNodeFaults,
    ...redisFaults,
    ...named("the engine is stopped", "replies to commits are lost", "all connections to the database are cut"),
    ...named("a campaign is paused, and resumed")
  ])

/** One or two of each kind, beginning with the one that takes longest to settle. */
export const few = (chance: () => number): ReadonlyArray<Fault> => [
  heldForLong,
  ...shuffled(chance, [
    ...named(`requests: ${fates.errorAfterForwarding().name}`, `requests: ${fates.errorThenForwarded(504, 6000).name}`),
    ...named("the engine is killed", "the engine stands still"),
    ...named("the clock is set forward, and back", "the clock is set back into the closed window"),
    ...named("all connections to Asterisk are cut", "the connections to Asterisk fall silent"),
    ...named("replies to commits are lost", "the connections to the database fall silent", "commits are slow"),
    ...named("a campaign is paused, and resumed")
  ])
]
