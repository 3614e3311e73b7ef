import t from "tap"
import { openApi } from "./apiTest.ts"

const api = await openApi(t)
const { ask } = api

t.test("given anybody", async (t) => {
  t.test("when health is requested, then it says what answers, and whether sign-up is open", async (t) => {
    t.strictSame((await ask("GET", "/health", undefined, { key: null })).json, {
      status: "ok",
      version: "9.9.9",
      backend_api_endpoint: `http://127.0.0.1:${api.port}`,
      deployment_mode: "oss",
      auth_provider: "local",
      signup_enabled: true,
      turn_enabled: false,
      force_turn_relay: false,
      tunnel_url: null
    })
  })

  t.test("when readiness is requested, then it tells the truth", async (t) => {
    t.match(await ask("GET", "/health/ready"), { status: 200, json: { status: "ready", postgres: "up", redis: "not_used", trunks: [] } })
    api.health.isUp = false
    t.match(await ask("GET", "/health/ready"), { status: 503, json: { detail: "The database does not answer" } })
  })
})
