/** The websocket of a call from a browser: who may use it, what it takes and tells, and what it does with what it should not be sent. */
import t, { type Test } from "tap"
import { BrowserRunTaken } from "#core/call/BrowserBeginning.ts"
import { BrowserCallRefused } from "#core/call/BrowserCalls.ts"
import { ConcurrencyExhausted, MediaExhausted } from "#core/call/Dialer.ts"
import { RunId } from "#core/Id.ts"
import { RunNotFound } from "#core/run/Run.ts"
import { signalingPath } from "#gateway/browser/signaling.ts"
import { browserCallRoutes } from "#gateway/routes/browserCall.ts"
import { openPage } from "#test/support/browserCall.ts"
import { untilTrue } from "#test/support/until.ts"
import { openApi } from "./apiTest.ts"
import { judgeOf } from "./documented.ts"
import { checkedOften } from "./followers.ts"

const api = await openApi(t, checkedOften)
const { browsers, makeKey, port, sql } = api
const key = await makeKey({ role: "member", scopes: ["calls"] })

const pageFor = (t: Test, token: string, path = "7/11") =>
  openPage(t, `http://127.0.0.1:${port}/api/v1/ws/signaling/${path}?token=${token}`)
const calling = async (t: Test) => {
  const page = pageFor(t, key)
  await page.opened
  page.send("offer", { sdp: await page.browser.offer(), type: "offer", pc_id: "PC-1", call_context_vars: { first_name: "Ada" } })
  const before = browsers.begun.length
  await untilTrue("a call", () => browsers.begun.length > before)
  const begun = browsers.begun.at(-1)
  if (begun === undefined) throw new Error("no call")
  return { ...begun, tell: begun.page, page }
}
const candidate = "candidate:1 1 udp 1 192.0.2.7 5 typ host"

t.test("given a page with a session, when it offers, then its call begins, and what follows goes both ways", async (t) => {
  const early = pageFor(t, key)
  await early.opened
  early.send("ice-candidate", { candidate: { candidate, sdpMid: "0", sdpMLineIndex: 0 }, pc_id: "PC-1" })
  early.send("offer", { sdp: await early.browser.offer(), type: "offer", pc_id: "PC-1" })
  await untilTrue("a call with its candidate", () => browsers.begun.at(-1)?.log.length === 1)
  t.strictSame(browsers.begun.at(-1)?.log, [`candidate ${candidate}`], "a candidate that came before the offer")
  early.closes()
  await untilTrue("the end of a closed page", () => browsers.begun.at(-1)?.log.at(-1) === "hangs up")

  const { log, offer, page, run, tell } = await calling(t)
  t.strictSame(run, { organizationId: api.organizationId, agentId: 7, runId: 11 })
  t.match(offer, { sdp: /^v=0/, context: { first_name: "Ada" } })
  tell.answered("v=0 answer")
  t.strictSame(await page.next("answer"), { sdp: "v=0 answer", type: "answer", pc_id: "PC-1" })
  page.send("ice-candidate", { candidate: { candidate, sdpMid: null, sdpMLineIndex: 0 } })
  page.send("ice-candidate", { candidate: { candidate: "candidate:2 1 udp 1 example.com 5 typ host" } })
  page.send("ice-candidate", { candidate: null })
  page.send("renegotiate", { sdp: await page.browser.offer(), type: "offer", pc_id: "PC-2" })
  await untilTrue("another offer", () => log.includes("offer true"))
  t.strictSame(log, [`candidate ${candidate}`, "offer true"], "no name is looked up")
  tell.ended("agent_hangup")
  t.strictSame(await page.next("call-ended"), { workflow_run_id: 11, pc_id: "PC-2", reason: "agent_hangup" })
  t.strictSame(await page.closed, { code: 1000, reason: "call ended" })
  const judge = judgeOf(browserCallRoutes)
  for (const json of page.frames) {
    const text = JSON.stringify(json)
    t.equal(judge("GET", signalingPath, { status: 200, headers: { "content-type": "application/json" }, text, json }), undefined, json.type)
  }
})

t.test("given a line of the agent that has been heard, then the page is told that the agent speaks no longer", async (t) => {
  const { happens, page } = await calling(t)
  const timestamp = "2026-11-30T08:00:00.000Z"
  happens({ type: "rtf-bot-text", payload: { text: "Good morning." }, timestamp, turn: 0 })
  happens({ type: "rtf-node-transition", payload: { node_id: "2" }, timestamp, turn: 0 })
  await page.next("rtf-node-transition")
  const types = page.frames.map(({ type }) => type)
  t.strictSame(types, ["rtf-bot-text", "rtf-bot-stopped-speaking", "rtf-node-transition"], "or it shows the line as being spoken")
  page.closes()
})

t.test("given somebody who may not call, then the code says so, and no call begins", async (t) => {
  const before = browsers.begun.length
  const check = async (code: number, token: string, path?: string) => {
    const page = pageFor(t, token, path)
    await page.opened
    page.send("offer", { sdp: await page.browser.offer() })
    t.equal((await page.closed).code, code)
  }
  await check(4401, "")
  await check(4401, "tlk_nobody_has_this_key")
  await check(4403, await makeKey({ role: "viewer" }))
  await check(4403, await makeKey({ scopes: ["agents"] }))
  await check(4404, key, "7/x")
  await check(4404, key, "99999999999/1")
  t.equal(browsers.begun.length, before)
})

t.test("given a session that ends during the call, then the call is hung up", async (t) => {
  const own = await makeKey({ role: "member" })
  const page = pageFor(t, own)
  await page.opened
  page.send("offer", { sdp: await page.browser.offer() })
  const before = browsers.begun.length
  await untilTrue("a call", () => browsers.begun.length > before)
  await sql`UPDATE api_keys SET archived_at = now() WHERE key_hash = encode(sha256(${own}::text::bytea), 'hex')`
  t.equal((await page.closed).code, 4401)
  await untilTrue("its end", () => browsers.begun.at(-1)?.log.at(-1) === "hangs up")
})

t.test("given a call that is refused, then the page is told why in the product's words", async (t) => {
  t.teardown(() => {
    browsers.refusal = undefined
  })
  const check = async (refusal: typeof browsers.refusal, code: number, payload: object) => {
    browsers.refusal = refusal
    const page = pageFor(t, key)
    await page.opened
    page.send("offer", { sdp: await page.browser.offer() })
    t.match(await page.next("error"), payload)
    t.equal((await page.closed).code, code)
  }
  await check(new BrowserRunTaken({ isCompleted: true }), 4409, { error_type: "workflow_run_already_completed" })
  await check(new BrowserRunTaken({ isCompleted: false }), 4409, { error_type: "workflow_run_already_active" })
  await check(new ConcurrencyExhausted(), 4429, { error_type: "concurrency_limit_exceeded" })
  await check(new MediaExhausted({ retryAfterSeconds: 5 }), 4429, { error_type: "concurrency_limit_exceeded" })
  await check(new RunNotFound({ id: RunId.make(11) }), 4404, { message: "Workflow run not found" })
  await check(new BrowserCallRefused({ reason: "The engine is stopping" }), 1013, { message: "The engine is stopping" })
})

t.test("given hostile frames, then the socket is closed with a reason, and the call that it had is hung up", async (t) => {
  const before = browsers.begun.length
  const first = async (code: number, ...texts: ReadonlyArray<string>) => {
    const page = pageFor(t, key)
    await page.opened
    for (const text of texts) page.sendText(text)
    t.equal((await page.closed).code, code, `${texts[0]?.slice(0, 60)}`)
  }
  await first(4400, "{")
  await first(4400, "null")
  await first(4400, '{"type": "__proto__", "payload": {}}')
  await first(4400, '{"type": "answer", "payload": {}}')
  await first(4400, '{"type": "offer"}')
  await first(4400, '{"type": "offer", "payload": {"sdp": 7}}')
  await first(4400, '{"type": "offer", "payload": {"sdp": "v=0"}}')
  await first(4400, `{"type": "offer", "payload": {"sdp": "v=0", "call_context_vars": ${"[".repeat(200)}${"]".repeat(200)}}}`)
  await first(4400, JSON.stringify({ type: "offer", payload: { sdp: "x".repeat(40_000) } }))
  await first(1006, "x".repeat(70_000))
  const given = JSON.stringify({ type: "ice-candidate", payload: { candidate: { candidate } } })
  await first(1008, ...Array.from({ length: 65 }, () => given))
  await first(1008, ...Array.from({ length: 2000 }, () => given))
  t.equal(browsers.begun.length, before, "no call has begun")
  const inCall = async (code: number, ...texts: ReadonlyArray<string>) => {
    const { log, page } = await calling(t)
    for (const text of texts) page.sendText(text)
    t.equal((await page.closed).code, code)
    await untilTrue("its end", () => log.at(-1) === "hangs up")
  }
  await inCall(4400, "{")
  await inCall(1008, ...Array.from({ length: 65 }, () => given))
})
