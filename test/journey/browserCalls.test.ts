/** Calls from browsers with a whole engine: another WebRTC connection is the browser, and judges what it hears. */
import { readFileSync, readdirSync } from "node:fs"
import { join } from "node:path"
import t, { type Test } from "tap"
import { decode } from "#core/audio/Mulaw.ts"
import { openPage } from "#test/support/browserCall.ts"
import { type Run, World } from "#test/support/engine.ts"
import { sidesOf } from "#test/support/stereo.ts"
import { after, codesOf, keyTone, nothing } from "#test/support/sound.ts"
import { until, untilTrue } from "#test/support/until.ts"

const world = await World.open(t, { environment: { ORG_CONCURRENCY: "2" }, greeting: "Good morning {{first_name}}." })

const idOf = (body: unknown): number => (body instanceof Object && "id" in body ? Number(body.id) : 0)
const newRun = async () => {
  const { body, status } = await world.api.ask("POST", `/workflow/${world.agentId}/runs`, { mode: "smallwebrtc", name: "WR-1" })
  if (status !== 200) throw new Error(JSON.stringify(body))
  return idOf(body)
}
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
