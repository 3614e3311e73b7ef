/**
 * The conformance cases of the reference's page on Asterisk that depend on single replies and events, by their numbers. A4 and A15 are in
 * `ariCalls.test.ts`, A8 in `ariDoubt.test.ts`, A7, A9 and A10 in `ari.test.ts`, A11 and A12 in `ariMarks.test.ts`, and A14, a call that Asterisk does not
 * know, is among the suite's.
 */
import { setTimeout as sleep } from "node:timers/promises"
import t, { type Test } from "tap"
import ari from "#adapters/ari/ari.ts"
import { outcomeOf } from "#core/outcome/Outcome.ts"
import { ariConfig } from "#test/support/ariConfig.ts"
import { untilTrue } from "#test/support/until.ts"
import { Line, newCallId, numberOf } from "./Line.ts"
import { ScriptedAsterisk } from "./ScriptedAsterisk.ts"

t.jobs = 4

interface Scene {
  readonly asterisk: ScriptedAsterisk
  readonly line: Line
}
const connectionId = "connection-1"
/** Accepts calls, and whatever is created or deleted. */
const working = {
  "POST /channels": ({ query }: { readonly query: Readonly<Record<string, string>> }) => ({
    status: 200,
    body: { id: query["channelId"] }
  }),
  "POST /channels/externalMedia": { status: 200, body: { channelvars: { MEDIA_WEBSOCKET_CONNECTION_ID: connectionId } } },
  POST: { status: 204, body: "" },
  PUT: { status: 200, body: {} },
  DELETE: { status: 204, body: "" },
  GET: { status: 404, body: { message: "Channel not found" } }
}
type Use = (t: Test, scene: Scene) => Promise<void>
const givenWith = (config: object, name: string, test: Use) =>
  t.test(name, { buffered: true }, async (t) => {
    const asterisk = await ScriptedAsterisk.start(working)
    const line = await Line.up(ari, { ...ariConfig(asterisk), ...config }, "one")
    await test(t, { asterisk, line }).finally(async () => {
      await line.close()
      asterisk.stop()
    })
  })
const given = (name: string, test: Use) => givenWith({}, name, test)

const channel = (id: string, state = "Up") => ({ id, state, name: "PJSIP/trunk-00000001" })
const started = (id: string, args: ReadonlyArray<string>) => ({ type: "StasisStart", args, channel: channel(id) })
const ringing = (id: string) => ({ type: "Dial", dialstatus: "RINGING", peer: channel(id, "Ringing") })
const destroyed = (id: string, cause: number, more: object = {}) => ({
  type: "ChannelDestroyed",
  cause,
  channel: channel(id, "Down"),
  ...more
})
/** A call that is up. */
const talk = async ({ asterisk, line }: Scene) => {
  const { callId } = await line.originate(numberOf("1"))
  asterisk.tell(started(callId, ["call", callId]))
  await line.event(callId, "Answered")
  return callId
}

givenWith(
  { caller_name: "Acme", account_code: "sales", channel_variables: ["customer"] },
  "A1: when a call is originated, then its id is ours, and the body holds only the variables",
  async (t, { asterisk, line }) => {
    const to = "+14155550123"
    const { callId, failure } = await line.originate(to, {
      from: "+15005550006",
      ringTimeoutSeconds: 30,
      context: { customer: "Zoë & Söhne #1" }
    })
    t.equal(failure, undefined)
    t.strictSame(asterisk.requests("POST", "/channels"), [
      {
        method: "POST",
        path: "/channels",
        query: {
          endpoint: `PJSIP/${to}@trunk`,
          app: "trunkline.one.1",
          appArgs: `call,${callId}`,
          channelId: callId,
          timeout: "30",
          callerId: '"Acme" <+15005550006>'
        },
        body: { variables: { "CHANNEL(accountcode)": "sales", customer: "Zoë & Söhne #1" } }
      }
    ])
    const plain = await line.originate(to)
    t.equal(plain.failure, undefined)
    t.match(asterisk.requests("POST", "/channels")[1]?.query, { channelId: plain.callId, callerId: undefined })
  }
)

given("A2: when all events precede the reply, then they are reported in order, and one media channel is created", async (t, scene) => {
  const { asterisk, line } = scene
  const { promise: replied, resolve: reply } = Promise.withResolvers<void>()
  asterisk.answer({
    "POST /channels": async ({ query }) => {
      await replied
      return { status: 200, body: { id: query["channelId"] } }
    }
  })
  const callId = newCallId()
  const originating = line.originate(numberOf("1"), { callId })
  await untilTrue("the request", () => asterisk.requests("POST", "/channels").length === 1)
  asterisk.tell({ type: "ChannelStateChange", channel: channel(callId, "Ringing") })
  asterisk.tell(ringing(callId))
  asterisk.tell({ type: "ChannelStateChange", channel: channel(callId) })
  asterisk.tell(started(callId, ["call", callId]))
  await line.event(callId, "Answered")
  const opening = withMedia(scene, callId, async () => {})
  reply()
  t.equal((await originating).failure, undefined)
  await opening
  t.strictSame(line.story(callId), ["Rang", "Answered"])
  t.equal(asterisk.requests("POST", "/channels/externalMedia").length, 1)
})

/** Opens the audio of a call, and starts its media channel after `before`. */
const withMedia = async (
  { asterisk, line }: Scene,
  callId: Parameters<Line["withMedia"]>[0],
  use: Parameters<Line["withMedia"]>[1],
  before: () => Promise<void> = async () => {}
) => {
  const opening = line.withMedia(callId, (stream) => use(stream))
  await untilTrue("the media channel", () => asterisk.requests("POST", "/channels/externalMedia").length > 0)
  await before()
  asterisk.tell(started(asterisk.requests("POST", "/channels/externalMedia").at(-1)?.query["channelId"] ?? "", ["media", callId]))
  await opening
}

given("A3: when the media channel starts late, then it enters the bridge only after that", async (t, scene) => {
  const { asterisk } = scene
  const callId = await talk(scene)
  const entering = () => asterisk.asked.filter(({ path }) => path.endsWith("/addChannel"))
  let enteredBefore = 0
  await withMedia(
    scene,
    callId,
    async () => {},
    async () => {
      await untilTrue("the bridge", () => asterisk.asked.some(({ method, path }) => method === "POST" && path === "/bridges"))
      await sleep(2_000)
      enteredBefore = entering().length
    }
  )
  t.equal(enteredBefore, 0)
  const mediaId = asterisk.requests("POST", "/channels/externalMedia")[0]?.query["channelId"]
  const entered = entering().map(({ query }) => query)
  t.strictSame(entered, [{ channel: `${callId},${mediaId}` }])
})

const place = { context: "ivr", extension: "s", priority: "1" }
const args = (callId: string) => ["dialplan", callId, "ivr", "s", "1"]
givenWith(
  place,
  "A5: when the dialplan hands a call back with HUMAN, then it has not ended, and a human answered",
  async (t, { asterisk, line }) => {
    const { callId } = await line.originate(numberOf("1"))
    asterisk.tell(started(callId, args(callId)))
    await untilTrue("the dialplan", () => asterisk.requests("POST", `/channels/${callId}/continue`).length === 1)
    asterisk.tell({ type: "StasisEnd", channel: channel(callId) })
    asterisk.tell({ type: "ChannelVarset", variable: "AMDSTATUS", value: "HUMAN", channel: channel(callId) })
    asterisk.tell(started(callId, ["call", callId, "AMDSTATUS=HUMAN"]))
    await untilTrue("the hand-over", () => line.events(callId).filter(({ _tag }) => _tag === "Answered").length === 2)
    t.match(line.events(callId), [
      { _tag: "VariablesSet", values: { dialplan: "entered" } },
      { _tag: "Answered", isElsewhere: true },
      { _tag: "VariablesSet", values: { AMDSTATUS: "HUMAN" } },
      { _tag: "VariablesSet", values: { AMDSTATUS: "HUMAN", dialplan: "handed_over" } },
      { _tag: "Answered" }
    ])
    t.notOk(line.story(callId).includes("Detected"))
  }
)

givenWith(
  place,
  "A6: when the dialplan detects a machine and hangs up, then the call has reached a voicemail",
  async (t, { asterisk, line }) => {
    const { callId } = await line.originate(numberOf("1"))
    asterisk.tell(started(callId, args(callId)))
    asterisk.tell({ type: "ChannelVarset", variable: "AMDSTATUS", value: "MACHINE", channel: channel(callId) })
    asterisk.tell({ type: "StasisEnd", channel: channel(callId) })
    asterisk.tell(destroyed(callId, 16))
    const cause = await line.hungUp(callId)
    t.equal(cause, "machine_detected")
    t.equal(outcomeOf({ answered: true, cause, machine: false }), "voicemail")
  }
)

given("A13: when the media websocket closes, then that is reported, and the call ends on request", async (t, scene) => {
  const { asterisk } = scene
  const callId = await talk(scene)
  const told: Array<string> = []
  await withMedia(scene, callId, async (stream) => {
    stream.listen({ closed: (how) => told.push(`closed ${how}`), frame: () => told.push("frame"), marked: () => {} })
    asterisk.say(new Uint8Array(160).fill(0xff))
    await untilTrue("the callee", () => told.length > 0)
    asterisk.closeMedia()
    await untilTrue("the end of the audio", () => told.length > 1)
  })
  t.match(told, ["frame", /^closed /])
  await scene.line.hangup(callId)
  t.equal(asterisk.requests("DELETE", `/channels/${callId}`).length, 1)
})
