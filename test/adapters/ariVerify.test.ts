/** The faults that are found in an Asterisk that answers, but is not fit for calls. */
import t, { type Test } from "tap"
import ari from "#adapters/ari/ari.ts"
import type { Check } from "#core/provider/Adapter.ts"
import { ariConfig } from "#test/support/ariConfig.ts"
import { checksOf } from "./checksOf.ts"
import { type Answer, ScriptedAsterisk } from "./ScriptedAsterisk.ts"

const running = (
  "app_stasis bridge_softmix chan_rtp chan_websocket func_dialplan " +
  "res_ari_applications res_ari_bridges res_ari_channels res_ari_events res_stasis"
).split(" ")

interface Options {
  /** Answers by method and path, in place of the correct ones. */
  readonly answers?: Readonly<Record<string, Answer>>
  readonly without?: ReadonlyArray<string>
  readonly hasEvents?: boolean
  /** Additional fields of the configuration. */
  readonly more?: Readonly<Record<string, unknown>>
}

const usual = (without: ReadonlyArray<string>): Readonly<Record<string, Answer>> => ({
  "GET /asterisk/info": { status: 200, body: { status: { startup_time: "now" }, system: { version: "22.10.1" } } },
  "GET /asterisk/modules": {
    status: 200,
    body: running.filter((name) => !without.includes(name)).map((name) => ({ name: `${name}.so`, status: "Running" }))
  },
  "GET /endpoints/PJSIP/trunk": { status: 200, body: { state: "online" } },
  DELETE: { status: 404, body: { message: "Channel not found" } }
})

/** The faults that are found. */
const found = async (t: Test, { answers = {}, hasEvents = true, more = {}, without = [] }: Options): Promise<ReadonlyArray<Check>> => {
  const asterisk = await ScriptedAsterisk.start({ ...usual(without), ...answers }, hasEvents)
  t.teardown(() => asterisk.stop())
  const checks = await checksOf(ari, { ...ariConfig(asterisk), ...more })
  t.notMatch(JSON.stringify(checks), asterisk.password)
  return checks.filter(({ result }) => result !== "passed")
}

t.test("given an Asterisk that lacks something, then the test says what, and what to do", async (t) => {
  const check = async (options: Options, expected: ReadonlyArray<object>) => t.match(await found(t, options), expected)
  const denied = { status: 403, body: { message: "Write access denied" } }
  t.strictSame(await found(t, {}), [])
  await check({ answers: { DELETE: denied } }, [
    { name: "rights", result: "failed", message: /look but not act/, advice: /read_only = no/ }
  ])
  await check({ answers: { DELETE: { status: 405, body: "" } } }, [
    { name: "rights", result: "failed", message: /HTTP 405/, advice: /proxy/ }
  ])
  await check({ hasEvents: false }, [{ name: "events", result: "failed", message: /HTTP 503/, advice: /session_limit/ }])
  await check({ without: ["app_stasis"] }, [{ name: "modules", result: "failed", message: /app_stasis\.so/, advice: /modules\.conf/ }])
  await check({ without: ["chan_websocket"] }, [{ name: "media", result: "warning", message: /RTP/, advice: /chan_websocket/ }])
  await check({ without: ["chan_websocket", "chan_rtp"] }, [{ name: "media", result: "failed", message: /silent/ }])
  await check({ answers: { "GET /asterisk/modules": { status: 404, body: {} } } }, [{ name: "modules", result: "warning" }])
  await check({ answers: { "GET /endpoints/PJSIP/trunk": { status: 404, body: {} } } }, [{ name: "endpoint", result: "failed" }])
  await check({ answers: { "GET /endpoints/PJSIP/trunk": { status: 200, body: { state: "offline" } } } }, [
    { name: "endpoint", result: "warning" }
  ])
  const more = { context: "own" }
  t.strictSame(await found(t, { more }), [])
  await check({ more, without: ["func_dialplan"] }, [
    { name: "dialplan", result: "warning", message: /context 'own'/, advice: /func_dialplan\.so/ }
  ])
  await check({ answers: { "GET /asterisk/info": { status: 401, body: {} } } }, [{ name: "credentials", result: "failed" }])
  await check({ answers: { "GET /asterisk/info": { status: 200, body: [1] } } }, [
    { name: "connection", result: "failed", message: /is not ARI/ }
  ])
})
