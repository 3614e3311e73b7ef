/**
 * A campaign of 100,000 contacts through the API, from the upload of its list to the answer; beside it the same rows written into the same
 * table by COPY, through another client. Also by how much the engine's memory grows meanwhile.
 */
import { Effect } from "effect"
import { once } from "node:events"
import { readFileSync, writeFileSync } from "node:fs"
import type { Benchmark, Options } from "./Benchmark.ts"
import { columns, csvOf, rowsOf, talksThenHangsUp } from "./Contacts.ts"
import { type Database, startDatabase } from "./Database.ts"
import { startEmulator } from "./Emulator.ts"
import { createCampaign, type Engine, prepare, startEngine } from "./Engine.ts"
import { quantile } from "./Figure.ts"

const rounds = 3
/** Rows per chunk of COPY. */
const chunkRows = 5000

const timed = <A>(effect: Effect.Effect<A>) =>
  Effect.gen(function* () {
    const began = performance.now()
    const value = yield* effect
    return { seconds: (performance.now() - began) / 1000, value }
  })

/** Copies the rows into the contacts of a campaign that was created with a single one. */
const copy = ({ sql }: Database, campaignId: number, count: number) =>
  Effect.promise(async () => {
    const rows = rowsOf(count, talksThenHangsUp)
    const stream = await sql`COPY contacts (campaign_id, organization_id, row_no, phone_number, context) FROM STDIN`.writable()
    const line = (cells: ReadonlyArray<string>, index: number) =>
      `${campaignId}\t1\t${index + 2}\t${cells[0]}\t${JSON.stringify(Object.fromEntries(columns.map((name, at) => [name, cells[at]])))}\n`
    // The first number is already there.
    for (let from = 1; from < rows.length; from += chunkRows) {
      const chunk = rows.slice(from, from + chunkRows).map((cells, at) => line(cells, from + at))
      if (!stream.write(chunk.join(""))) await once(stream, "drain")
    }
    stream.end()
    await once(stream, "finish")
  })

/** Linux counts the peak since its last reset. Undefined elsewhere. */
const memory = ({ child }: Engine) => {
  const kibibytes = (name: string) => Number(new RegExp(`${name}:\\s+(\\d+)`).exec(readFileSync(`/proc/${child.pid}/status`, "utf8"))?.[1])
  return {
    forgetPeak: () => writeFileSync(`/proc/${child.pid}/clear_refs`, "5"),
    now: () => kibibytes("VmRSS") / 1024,
    peak: () => kibibytes("VmHWM") / 1024
  }
}

const measure = ({ quick }: Options) =>
  Effect.gen(function* () {
    const database = yield* startDatabase()
    const emulator = yield* startEmulator({ media: false })
    const engine = yield* startEngine(database)
    const agentId = yield* prepare(engine, emulator)
    const count = quick ? 10_000 : 100_000
    const csv = csvOf(count)
    const rss = process.platform === "linux" ? memory(engine) : undefined
    const before = rss?.now() ?? 0
    rss?.forgetPeak()
    const created: Array<number> = []
    const copied: Array<number> = []
    for (let round = 0; round < rounds; round++) {
      created.push((yield* timed(createCampaign(engine, agentId, csv))).seconds)
      const target = yield* createCampaign(engine, agentId, csvOf(1))
      copied.push((yield* timed(copy(database, target, count))).seconds)
    }
    const seconds = quantile(created, 0.5)
    return [
      {
        name: `create, ${count.toLocaleString("en")} contacts`,
        value: seconds,
        unit: "s",
        goal: { atMost: 10 },
        control: quantile(copied, 0.5)
      },
      { name: "create, contacts a second", value: count / seconds, unit: "/s", control: count / quantile(copied, 0.5) },
      ...(rss === undefined
        ? []
        : [{ name: "create, growth of the engine's memory", value: rss.peak() - before, unit: "MiB", control: csv.length / 2 ** 20 }])
    ]
  }).pipe(Effect.scoped)

export const create: Benchmark = { name: "create", run: measure }
