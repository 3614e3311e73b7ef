/** Calls from browsers with a whole engine: another WebRTC connection is the browser, and judges what it hears. */
import { readFileSync, readdirSync } from "node:fs"
import { join } from "node:path"
import t, { type Test } from "tap"
import { decode } from "#core/audio/Mulaw.ts"
import { openPage } from "#test/support/browserCall.ts"
import { type Run, World } from "#test/support/engine.ts"
import { nicenessBeside } from "#test/support/niceness.ts"
import { sidesOf } from "#test/support/stereo.ts"
import { after, codesOf, keyTone, nothing } from "#test/support/sound.ts"
import { until, untilTrue } from "#test/support/until.ts"

const world = await World.open(t, { environment: { DRAIN: "1", ORG_CONCURRENCY: "2" }, greeting: "Good morning {{first_name}}." })

/** The niceness that the engine's main thread has wherever that is permitted. */
const foremost = -10
const idOf = (body: unknown): number => (body instanceof Object && "id" in body ? Number(body.id) : 0)
const newRun = async () => {
  const { body, status } = await world.api.ask("POST", `/workflow/${world.agentId}/runs`, { mode: "smallwebrtc", name: "WR-1" })
  if (status !== 200) throw new Error(JSON.stringify(body))
  return idOf(body)
}
const configure = (workflow_configurations: object) => world.api.ask("PUT", `/workflow/${world.agentId}`, { workflow_configurations })
const pageOf = (t: Test, run: number) =>
  openPage(t, `${world.engine.url}/api/v1/ws/signaling/${world.agentId}/${run}?token=${world.apiKey}`)
// The cast holds because the service builds its answers from this type.
const recordOf = async (run: number) => (await world.api.ask("GET", `/workflow/${world.agentId}/runs/${run}`)).body as Run
const completed = (run: number) =>
  until("a completed run", async () => {
    const record = await recordOf(run)
    return record.is_completed ? record : undefined
  })

t.test("given a page that calls, when it is closed, then the call is hung up, and its record has both sides", async (t) => {
  const run = await newRun()
  const page = pageOf(t, run)
  await page.negotiates("offer", { call_context_vars: { first_name: "Ada", provider: "mine" } })
  await untilTrue("a greeting", () => decode(page.browser.heard()).some((sample) => Math.abs(sample) > 2000))
  t.match(await page.next("rtf-bot-text"), { text: "Good morning Ada." })
  page.browser.says(codesOf(after(nothing(300), keyTone("5", 150), nothing(300))))
  t.match(await page.next("rtf-user-transcription"), { text: /5/ }, "a key that the browser is heard to press")
  const others = nicenessBeside(world.engine.pid ?? 0)
  t.ok(
    others.every((niceness) => niceness > foremost),
    "no thread beside the one that carries calls goes first"
  )
  page.closes()
  const record = await completed(run)
  t.match(record, {
    mode: "smallwebrtc",
    call_type: "inbound",
    initial_context: { direction: "inbound", first_name: "Ada", provider: "smallwebrtc" },
    gathered_context: { call_disposition: "user_hangup", dtmf_digits: /5/, hangup_cause: "normal_clearing", provider: "smallwebrtc" },
    usage_info: { call_duration_seconds: Number }
  })
  t.notOk(record.logs?.["telephony_status_callbacks"])
  const [row] =
    await world.sql`SELECT state, outcome, telephony_configuration_id AS configuration FROM attempts a JOIN runs r ON r.attempt_id = a.id WHERE r.id = ${run}`
  t.strictSame({ ...row }, { state: "ended", outcome: "answered", configuration: null })
  const { callee, agent } = sidesOf(readFileSync(recordingIn(world.dataDir)))
  const isLoud = (side: Int16Array) => side.some((sample) => Math.abs(sample) > 2000)
  t.ok(isLoud(callee) && isLoud(agent), "both sides are recorded")
})

const recordingIn = (folder: string): string => {
  const [name] = readdirSync(folder, { recursive: true })
    .map(String)
    .filter((file) => file.endsWith(".wav"))
  return join(folder, name ?? "")
}

t.test("given an agent that ends the call, then the page is told, its socket is closed, and its peer hears no more", async (t) => {
  await configure({ max_call_duration: 2 })
  t.teardown(() => configure({}))
  const run = await newRun()
  const page = pageOf(t, run)
  await page.negotiates()
  t.match(await page.next("call-ended"), { workflow_run_id: run, pc_id: "PC-1", reason: "duration_exceeded" })
  t.strictSame(await page.closed, { code: 1000, reason: "call ended" })
  t.match(await completed(run), { gathered_context: { call_disposition: "call_duration_exceeded" } })
})

t.test("given two pages with one run at once, then one of them has its call, and afterwards nobody", async (t) => {
  const run = await newRun()
  const pages = [pageOf(t, run), pageOf(t, run)]
  for (const page of pages) {
    await page.opened
    page.send("offer", { sdp: await page.browser.offer(), pc_id: "PC-1" })
  }
  const refused = await until("a page that is refused", () => pages.find(({ frames }) => frames.some(({ type }) => type === "error")))
  t.match(await refused.next("error"), { error_type: "workflow_run_already_active" })
  t.equal((await refused.closed).code, 4409)
  const other = pages.find((page) => page !== refused)
  await other?.next("answer")
  other?.closes()
  await completed(run)
  const late = pageOf(t, run)
  await late.opened
  late.send("offer", { sdp: await late.browser.offer() })
  t.match(await late.next("error"), { error_type: "workflow_run_already_completed" })
  const [row] = await world.sql`SELECT count(*)::int AS count FROM attempts a JOIN runs r ON r.attempt_id = a.id WHERE r.id = ${run}`
  t.strictSame({ ...row }, { count: 1 })
})

t.test("given a limit of two calls, then a third is refused, keeps its run, and can be made once another has ended", async (t) => {
  const runs = [await newRun(), await newRun()]
  const pages = runs.map((run) => pageOf(t, run))
  for (const page of pages) await page.negotiates()
  const third = await newRun()
  const refused = pageOf(t, third)
  await refused.opened
  refused.send("offer", { sdp: await refused.browser.offer() })
  t.match(await refused.next("error"), { error_type: "concurrency_limit_exceeded" })
  t.equal((await refused.closed).code, 4429)
  t.match(await recordOf(third), { is_completed: false })
  pages[0]?.closes()
  await completed(runs[0] ?? 0)
  const again = pageOf(t, third)
  await again.negotiates()
  for (const page of [...pages, again]) page.closes()
  await Promise.all([...runs, third].map(completed))
})

t.test("given a call that is up, when the page offers again, then the call goes on", async (t) => {
  const run = await newRun()
  const page = pageOf(t, run)
  await page.negotiates()
  await page.next("rtf-bot-text")
  await page.negotiates("renegotiate")
  const before = page.browser.heard().length
  await untilTrue("more audio", () => page.browser.heard().length > before + 1600)
  page.closes()
  t.match(await completed(run), { gathered_context: { call_disposition: "user_hangup" } })
})

t.test("given calls that are up, when the engine stops, then they get their time, are ended by it, and their pages are told", async (t) => {
  const run = await newRun()
  const page = pageOf(t, run)
  await page.negotiates()
  await page.next("rtf-bot-text")
  const ended = world.end("SIGTERM")
  t.match(await page.next("call-ended"), { reason: "originator_cancel" })
  t.equal((await page.closed).code, 1000)
  await ended
  await world.launch()
  t.match(await completed(run), { gathered_context: { call_disposition: "system_cancelled" } })
})

t.test(
  "given calls that are up, when the engine is killed, then the next one records them, with what was recorded, and their slots are free",
  async (t) => {
    const runs = [await newRun(), await newRun()]
    for (const run of runs) {
      const page = pageOf(t, run)
      await page.negotiates()
      await untilTrue("a stored line", async () => {
        const [row] = await world.sql`SELECT 1 FROM conversation_entries e JOIN runs r ON r.attempt_id = e.call_id
          WHERE r.id = ${run} AND e.content::text LIKE '%Good morning%'`
        return row !== undefined
      })
    }
    const unconnected = await newRun()
    await world.end("SIGKILL")
    await world.launch()
    for (const run of runs) {
      const record = await completed(run)
      t.match(record, { gathered_context: { hangup_cause: "node_lost" }, recording_url: /recording/, transcript_url: /transcript/ })
    }
    const [row] =
      await world.sql`SELECT array_agg(DISTINCT outcome) AS outcomes FROM attempts a JOIN runs r ON r.attempt_id = a.id WHERE r.id = ANY (${runs})`
    t.strictSame({ ...row }, { outcomes: ["error"] })
    const page = pageOf(t, unconnected)
    await page.negotiates()
    page.closes()
    await completed(unconnected)
  }
)
