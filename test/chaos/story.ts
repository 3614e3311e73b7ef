/** A story in which campaigns go through chaos and are judged by the callees' log. */
import { mkdtemp, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import type { Test } from "tap"
import { LONGEST_DOUBT_MILLIS } from "#runtime/call/Doubts.ts"
import { attemptsOf, recounted, shownCounters } from "#test/support/engine.ts"
import { nowMillis, untilTrue } from "#test/support/until.ts"
import { Stage, type ChaosOptions } from "./Stage.ts"
import type { CampaignFacts, Evidence, Named, Request } from "./Evidence.ts"
import type { Fault } from "./Fault.ts"
import { aKill, allFaults, few, fewOfNodes } from "./Faults.ts"
import { figuresOf, judge, rules } from "./Judge.ts"
import { errorsIn, explanations, summary } from "./Report.ts"

/**
 * The story takes as long as anything moves. A contact may wait for a number in doubt, and nothing moves until that doubt is over; after this
 * long without any sign, the campaigns have stalled.
 */
const stoppedMillis = LONGEST_DOUBT_MILLIS + 120_000
/** How much later than the engine wrote it a proxy may see a request on a busy machine. */
const lateMillis = 250

const isEvents = ({ path }: { readonly path: string }) => path.startsWith("/ari/events")
const applicationIn = (path: string) => new URL(path, "http://localhost").searchParams.get("app") ?? undefined

/** When no engine had an event WebSocket, or none that Asterisk tells of this application's calls. */
const unconnected = (stage: Stage, application?: string): ReadonlyArray<Named> => {
  const open = stage.asterisk.sockets
    .filter(isEvents)
    .filter(({ path }) => application === undefined || applicationIn(path) === application)
  const name = application === undefined ? "no websocket for events" : "the engine that had asked for it was gone"
  const ends = open.map(({ until = Number.POSITIVE_INFINITY }) => until)
  return [0, ...ends].flatMap((from) => {
    const isOpen = open.some((socket) => socket.from <= from && (socket.until ?? Number.POSITIVE_INFINITY) > from)
    const until = Math.min(...open.filter((socket) => socket.from >= from).map((socket) => socket.from), Number.POSITIVE_INFINITY)
    return isOpen || from === Number.POSITIVE_INFINITY ? [] : [{ ...(application !== undefined && { application }), from, name, until }]
  })
}

const absent = (stage: Stage): ReadonlyArray<Named> => {
  const applications = new Set(stage.asterisk.sockets.filter(isEvents).map(({ path }) => applicationIn(path)))
  return [...applications].flatMap((application) => (application === undefined ? [] : unconnected(stage, application)))
}

const requestsOf = ({ asterisk }: Stage): ReadonlyArray<Request> => {
  const idIn = (text: string) => /^(?:POST )?\S*[?&]channelId=([^&\s]+)/.exec(text)?.[1]
  const exchanges = new Map(asterisk.exchanges.filter(({ method }) => method === "POST").map((exchange) => [idIn(exchange.path), exchange]))
  return asterisk.written.flatMap(({ at, line }) => {
    const id = line.startsWith("POST ") ? idIn(line) : undefined
    const exchange = exchanges.get(id)
    const told = exchange?.given !== undefined && exchange.given === exchange.status ? exchange.given : undefined
    if (id === undefined) return []
    const application = applicationIn(line.split(" ")[1] ?? "/")
    return [{ ...(application !== undefined && { application }), at, fate: exchange?.fate, id, told }]
  })
}

const factsOf = async ({ world: { api, sql } }: Stage, member: Stage["campaigns"][number]): Promise<CampaignFacts> => {
  const { cap, closed, id, pauses } = member
  const contacts = await sql<Array<CampaignFacts["contacts"][number]>>`
    SELECT phone_number AS number, state FROM contacts WHERE campaign_id = ${id} ORDER BY row_no`
  const { state } = await api.campaign(id)
  return { cap, closed, contacts, id, pauses, recounted: await recounted(sql, id), shown: await shownCounters(api, id), state }
}

export const evidenceOf = async (stage: Stage): Promise<Evidence> => {
  const { sql } = stage.world
  const changes = await sql<Array<{ id: string; state: string; at: number }>>`
    SELECT id, state, extract(epoch FROM at)::float8 * 1000 AS at FROM chaos_changes ORDER BY at`
  const byId = Map.groupBy(changes, ({ id }) => id)
  const attempts = await Promise.all(
    stage.campaigns.map(async ({ id: campaignId }) =>
      (await attemptsOf(sql, campaignId)).map(({ id, outcome, phoneNumber, state }) => {
        const own = byId.get(id) ?? []
        const over = own.find((change) => change.state === "ended" || change.state === "void")
        return { beganAt: own[0]?.at ?? 0, campaignId, id, number: phoneNumber, outcome, overAt: over?.at, state }
      })
    )
  )
  const campaigns: Array<CampaignFacts> = []
  for (const member of stage.campaigns) campaigns.push(await factsOf(stage, member))
  return {
    attempts: attempts.flat(),
    busy: stage.stalls,
    campaigns,
    cuts: stage.cuts,
    // Spans with a specific name come first.
    deaf: [...stage.deaf, ...unconnected(stage), ...absent(stage)],
    kills: stage.kills,
    lateMillis,
    log: stage.world.emulator.log.entries,
    organizationCap: stage.cap,
    requests: requestsOf(stage)
  }
}

export const isDone = async (stage: Stage) => (await stage.tend()) === stage.campaigns.length

/** Changes whenever anything moves: the callees' log and the attempts in the database. */
const signsOf = async ({ world: { emulator, sql } }: Stage): Promise<string> => {
  const [changes] = await sql<Array<{ count: number }>>`SELECT count(*)::int FROM chaos_changes`
  return `${emulator.log.entries.length} ${changes?.count}`
}

const comesToAnEnd = async (stage: Stage): Promise<boolean> => {
  let latest = { at: nowMillis(), signs: "" }
  while (!(await isDone(stage))) {
    const signs = await signsOf(stage)
    if (signs !== latest.signs) latest = { at: nowMillis(), signs }
    if (nowMillis() > latest.at + stoppedMillis) return false
    await stage.progress(50, 1000)
  }
  return true
}

/** Applies the faults in turn while there is time and somebody left to call. */
const goThrough = async (stage: Stage, { kills = 0, minutes }: ChaosOptions, isShort: boolean): Promise<ReadonlyArray<Fault>> => {
  const [began, millis] = [nowMillis(), minutes * 60_000]
  const done: Array<Fault> = []
  const isOver = async () => nowMillis() > began + millis || (await isDone(stage))
  const apply = async (fault: Fault) => {
    stage.say(fault.name)
    await fault.run(stage)
    await stage.clearSky()
    done.push(fault)
    await stage.progress(isShort ? 4 : 12, 4000)
  }
  do {
    for (const fault of isShort ? (stage.nodes === undefined ? few(stage.chance) : fewOfNodes(stage.chance)) : allFaults(stage)) {
      if (await isOver()) return done
      await apply(fault)
      const due = () => (kills * (nowMillis() - began)) / millis
      while (stage.kills.length < due() && !(await isOver())) await apply(aKill(stage))
    }
  } while (!isShort)
  return done
}

/** Saves what helps to find the cause: the diary, the output of the engine's processes, and the evidence. Returns the folder. */
const keep = async ({ diary, world }: Stage, evidence: Evidence): Promise<string> => {
  const folder = await mkdtemp(join(tmpdir(), "trunkline-chaos-"))
  await writeFile(join(folder, "diary.txt"), `${diary.join("\n")}\n`)
  await writeFile(join(folder, "engine.log"), world.output())
  await writeFile(join(folder, "evidence.json"), JSON.stringify(evidence, null, 1))
  return folder
}

/** `isShort`: a few faults, once each. */
export const story = async (t: Test, options: ChaosOptions, isShort: boolean): Promise<void> => {
  const { contacts, kills = 0, minutes, nodes = 1, seed } = options
  const stage = await Stage.open(t, options)
  const scale = `--contacts ${contacts} --minutes ${minutes} --cap ${stage.cap} --kills ${kills} --nodes ${nodes}`
  t.comment(`the same again: npm run chaos -- --seed ${seed} ${scale}`)
  const { emulator } = stage.world
  for (const { id } of stage.campaigns) await stage.world.api.start(id)
  const began = nowMillis()
  const faults = await goThrough(stage, options, isShort)
  await stage.clearSky()
  stage.say("the sky is clear")
  const cleared = nowMillis()
  if (!(await comesToAnEnd(stage))) t.comment(`nothing has moved for ${stoppedMillis / 1000} s, and the campaigns are not over`)
  await untilTrue("last hang-up", () => emulator.log.live() === 0).catch(({ message }: Error) => t.comment(message))
  stage.say("over")
  const course = {
    chaosMillis: cleared - began,
    faults: faults.map(({ of }) => of),
    output: stage.world.output(),
    settlingMillis: nowMillis() - cleared,
    stops: stage.stops
  }

  const evidence = await evidenceOf(stage)
  const verdict = judge(evidence)
  for (const line of summary(evidence, course)) t.comment(line)
  const figures = figuresOf(evidence)
  for (const rule of rules) {
    const found = verdict.findings.filter((finding) => finding.rule === rule).map(({ what }) => what)
    t.strictSame(found, [], `${rule} (${figures[rule]})`)
  }
  for (const line of explanations(verdict, course)) t.comment(line)
  for (const line of await stage.told()) t.comment(line)
  if (verdict.findings.length > 0 || errorsIn(course.output).length > 0)
    t.comment(`all that is known of it: ${await keep(stage, evidence)}`)
}
