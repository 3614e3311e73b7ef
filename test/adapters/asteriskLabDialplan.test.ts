/** What a real Asterisk does with calls that an application sends into the dialplan, as the adapter and the emulator assume. */
import { appendFile } from "node:fs/promises"
import { join } from "node:path"
import t from "tap"
import { asteriskUnavailable, startAsterisk } from "#test/support/asterisk.ts"
import { app, connect, newId, subscribe } from "#test/support/bareAri.ts"
import { untilTrue } from "#test/support/until.ts"

/** The value of an expression in the dialplan's syntax. */
const value = (expression: string) => `\${${expression}}`
const stasis = `Stasis(${app},call,back,AMDSTATUS=${value("AMDSTATUS")})`
const context = (name: string, steps: ReadonlyArray<string>) =>
  `\n[${name}]\n${steps.map((step, at) => `exten => _[+0-9]!,${at + 1},${step}`).join("\n")}\n`
const contexts = [
  context("machine", ["Set(AMDSTATUS=MACHINE)", "Wait(0.2)", "Hangup(21)"]),
  context("human", ["Set(AMDSTATUS=HUMAN)", "Wait(0.2)", stasis, "Hangup()"]),
  context("lasting", ["Wait(60)", "Hangup()"]),
  context("retries", ["Wait(1)", stasis, `GotoIf($["${value("STASISSTATUS")}" = "SUCCESS"]?5)`, "Goto(1)", "Hangup()"])
].join("")

t.test("a real Asterisk and calls in its dialplan", { skip: (await asteriskUnavailable()) ?? false }, async (t) => {
  const asterisk = await startAsterisk()
  t.teardown(() => asterisk.stop())
  await appendFile(join(asterisk.runFolder, "etc/extensions.conf"), contexts)
  await asterisk.ctl("dialplan reload")
  const client = await connect(asterisk)
  t.teardown(() => client.close())
  const subscription = (id: string) => client.ask("POST", `/applications/${app}/subscription`, { eventSource: `channel:${id}` })
  const sendOn = (id: string, name: string) =>
    client.ask("POST", `/channels/${id}/continue`, { context: name, extension: "+15550001110", priority: "1" })
  const answered = async () => {
    const id = await client.originate("PJSIP/+15550001110@sipp")
    await client.answered(id)
    return id
  }
  const typesOf = (id: string) => client.seen.flatMap(({ channel, type }) => (channel?.id === id ? [type] : []))

  t.test("a call into a context that fails at once is gone before anybody can subscribe to it", async (t) => {
    const channelId = newId()
    await t.rejects(subscription(channelId), /422 .*Event source does not exist/, "nor can anybody subscribe before it exists")
    const place = { context: "human", extension: "+1", priority: "1" }
    await client.ask("POST", "/channels", { endpoint: "Local/+15550001404@lab", formats: "ulaw", channelId, ...place })
    await untilTrue("end of the channel", async () => !JSON.stringify(await client.ask("GET", "/channels")).includes(channelId))
    await t.rejects(subscription(channelId), /422/)
    t.strictSame(typesOf(channelId), [])
  })

  t.test("an application and a context at once: the application wins", async () => {
    const place = { context: "machine", extension: "+1", priority: "1" }
    const id = await client.originate("PJSIP/+15550001110@sipp", place)
    await client.answered(id)
    await client.hangup(id)
    await client.ended(id)
  })

  t.test("the application gets events of a call that it has sent on: the variables that are set, and the end", async (t) => {
    const id = await answered()
    await subscription(id)
    await sendOn(id, "machine")
    const { cause } = await client.ended(id)
    t.equal(cause, 21)
    const set = client.seen.filter(({ channel, type }) => type === "ChannelVarset" && channel?.id === id)
    t.match(JSON.stringify(set), '"variable":"AMDSTATUS","value":"MACHINE"')
    t.equal(typesOf(id).filter((type) => type === "StasisStart").length, 1)
  })

  t.test("a call in the dialplan is not sent on again", async (t) => {
    const id = await answered()
    await sendOn(id, "lasting")
    await t.rejects(sendOn(id, "human"), /409 .*Channel not in Stasis application/)
    await client.hangup(id)
    await client.ended(id)
  })

  t.test("a call comes back with the dialplan's results", async (t) => {
    const id = await answered()
    await sendOn(id, "human")
    const back = await client.waitFor("handover", ({ args, channel }) => channel?.id === id && args?.[0] === "call")
    t.strictSame(back.args, ["call", "back", "AMDSTATUS=HUMAN"])
    await client.hangup(id)
    await client.ended(id)
  })

  t.test("it says whether a place exists, and ends a call that is sent to a missing one with cause 0", async (t) => {
    const id = await answered()
    const exists = (name: string) => client.ask("GET", `/channels/${id}/variable`, { variable: `DIALPLAN_EXISTS(${name},+1,1)` })
    t.strictSame([await exists("human"), await exists("nowhere")], [{ value: "1" }, { value: "0" }])
    await sendOn(id, "nowhere")
    t.match(await client.ended(id), { cause: 0 })
  })

  t.test("a subscription outlives the events' websocket, and Stasis() fails for an application without a client", async (t) => {
    const id = await answered()
    await subscription(id)
    await sendOn(id, "retries")
    client.close()
    const status = () => client.ask("GET", `/channels/${id}/variable`, { variable: "STASISSTATUS" })
    await untilTrue("failed attempt", async () => JSON.stringify(await status()) === '{"value":"FAILED"}')
    const next = await subscribe(asterisk, app)
    const back = await next.waitFor("handover", ({ args, channel }) => channel?.id === id && args?.[0] === "call")
    await client.ask("DELETE", `/channels/${id}`)
    await next.waitFor("end", ({ channel, type }) => channel?.id === id && type === "ChannelDestroyed")
    t.equal(back.channel?.state, "Up")
    next.close()
  })
})
