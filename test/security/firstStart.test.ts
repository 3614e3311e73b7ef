/** An engine configured by its environment alone: who gets access at its first start, and what is noted of its clients. */
import { mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import t from "tap"
import { bodyOf } from "#test/gateway/apiTest.ts"
import { bearer, raw, send, type Sent } from "#test/gateway/gatewayTest.ts"
import { endsWith, spawnEngine, startEngine, wrote } from "#test/support/EngineProcess.ts"
import { runScript } from "#test/support/fromDebian.ts"
import { freePort } from "#test/support/freePort.ts"
import { openDatabase } from "#test/support/postgres.ts"
import { until } from "#test/support/until.ts"

const folder = await mkdtemp(join(tmpdir(), "trunkline-first-"))
const { url } = await openDatabase(t)
const port = await freePort()
const engine = await startEngine({
  CORS_ORIGINS: "https://app.example.com",
  DATABASE_URL: url,
  DATA_DIR: folder,
  METRICS: "off",
  PORT: String(port),
  PUBLIC_URL: "https://calls.example.com",
  TRUSTED_PROXIES: "127.0.0.1"
})
t.teardown(async () => {
  engine.kill("SIGTERM")
  await engine.exited
  await rm(folder, { force: true, recursive: true })
})
const codeOf = (output: string): string => /"setup_code": "([^"]+)"/.exec(output)?.[1] ?? ""
const key = /^API key \(shown once\): (\S+)$/m.exec(engine.output())?.[1] ?? ""
const code = codeOf(engine.output())
/** Retries while an engine on a busy machine sheds load. */
const ask = (method: string, path: string, sent: Sent = {}) =>
  until("answer", async () => {
    const answer = await send({ port }, method, `/api/v1${path}`, { key, ...sent })
    return answer.status === 503 ? undefined : answer
  })
const stranger = "198.51.100.9"
const account = (email: string) => ({ email, password: "correct horse" })
const signUp = (email: string, more: object = {}, headers: Sent["headers"] = {}) =>
  ask("POST", "/auth/signup", {
    key: null,
    json: { ...account(email), ...more },
    headers: { "x-forwarded-for": stranger, ...headers }
  })

t.test("given what the first start has printed", async (t) => {
  t.test("when a stranger signs up with the code, then they own the first organization, alone", async (t) => {
    t.equal((await signUp("eve@example.org")).status, 403)
    t.equal((await signUp("eve@example.org", { setup_code: `${code}x` })).status, 403)
    const first = bodyOf(await signUp("first@example.org", { setup_code: code }))
    const members = await ask("GET", "/organizations/members")
    t.match(members.json, { members: [{ email: "first@example.org", role: "owner", user_id: Object(first["user"])["id"] }] })
    t.equal((await signUp("eve@example.org", { setup_code: code })).status, 403, "it is good once")
    t.equal((await ask("POST", "/auth/signup", { key: null, json: account("eve@example.org") })).status, 403)
  })
  t.test("when the key is used, then its requests are an operator's, unlike those of the owner's log-in", async (t) => {
    t.match(await ask("GET", "/operator/organizations"), { status: 200, json: { organizations: [{ quotas: {} }] } })
    t.match(await ask("GET", "/operator/keys"), { status: 200 })
    const { token } = bodyOf(await ask("POST", "/auth/login", { key: null, json: account("first@example.org") }))
    t.equal((await ask("GET", "/operator/organizations", bearer(token))).status, 403)
  })
})

/** What a shell gets from a command with curl. Retries like `ask`. */
const ran = (command: string): Promise<unknown> =>
  until("answer", async () => {
    const { stdout } = await runScript("bash", ["-c", `${command} -w '\\n%{http_code}'`], {}, 60_000)
    const [body = "", status] = stdout.split("\n")
    return status === "503" ? undefined : JSON.parse(body)
  })

t.test("given a first start whose output is lost, when a standby takes over, then it prints a command that makes the owner", async (t) => {
  const { url } = await openDatabase(t)
  const start = (name: string) => {
    const one = spawnEngine({ DATABASE_URL: url, DATA_DIR: join(folder, name), METRICS: "off", PORT: "0", SECRETS_KEY: "5".repeat(64) })
    endsWith(t, one)
    return one
  }
  const first = start("first")
  await first.ready
  const standby = start("standby")
  await wrote(standby, "this one stands by")
  t.equal(codeOf(standby.output()), "", "none before it takes over: the other engine's code is valid until then")
  first.kill("SIGTERM")
  await standby.ready

  const printed = /^curl .+$/m.exec(standby.output())?.[0] ?? "false"
  const filled = printed.replace('"email": "..."', '"email": "ada@example.org"').replace('"password": "..."', '"password": "correct horse"')
  t.match(await ran(printed), { detail: [{ loc: ["body", "email"] }, { loc: ["body", "password"] }] }, "it has to be filled in")
  t.match(await ran(filled.replace(codeOf(printed), codeOf(first.output()))), { detail: /refused/ }, "the other engine's code is void")
  t.match(await ran(filled), { user: { email: "ada@example.org" } })
})

t.test("given TRUSTED_PROXIES, when one of these proxies forwards a request, then its client's address is noted", async (t) => {
  const { token } = bodyOf(
    await ask("POST", "/auth/login", { key: null, json: account("first@example.org"), headers: { "x-forwarded-for": "203.0.113.7" } })
  )
  const entries = await ask("GET", "/organizations/audit-log", bearer(token))
  t.match(entries.json, { entries: [{ action: "logIn", address: "203.0.113.7" }] })
})

t.test("given CORS_ORIGINS, when pages of other sites ask, then they may not read the answer", async (t) => {
  const allowed = async (origin: string) => (await ask("GET", "/health", { headers: { origin } })).headers["access-control-allow-origin"]
  t.equal(await allowed("https://app.example.com"), "https://app.example.com")
  t.equal(await allowed("https://evil.example"), undefined)
})

t.test("given PUBLIC_URL, when the engine is addressed by another name, then 421, over a websocket too", async (t) => {
  const upgrade = "connection: Upgrade\r\nupgrade: websocket\r\nsec-websocket-version: 13\r\nsec-websocket-key: dGhlIHNhbXBsZSBub25jZQ=="
  const status = async (path: string, host: string, lines = "accept: */*", method = "GET") =>
    (await raw({ port }, `${method} /api/v1${path} HTTP/1.1\r\nhost: ${host}\r\n${lines}\r\n\r\n`, 200)).slice(9, 12)
  t.equal(await status("/health", "calls.example.com"), "200")
  t.equal(await status("/health", "evil.example"), "421")
  t.equal(await status("/events/ws", "calls.example.com", upgrade), "101")
  t.equal(await status("/events/ws", "evil.example", upgrade), "421")
  // Whoever has such an address has it from this engine; these are not genuine.
  const sealed = [
    ["/carrier-callbacks/1/-/event/x", "403"],
    ["/carrier-callbacks/1/-/event/x", "403", undefined, "POST"],
    ["/carrier-media/01890000-0000-7000-8000-000000000001/x", "403", upgrade],
    ["/files?key=a&expires=1&inline=0&signature=x", "403"],
    ["/public/download/workflow/x/recording", "404"],
    ["/uploads/x?key=a", "403", undefined, "PUT"],
    ["/resource-uploads/x?key=a", "403", undefined, "PUT"],
    // A page that came here by another name has no credential.
    ["/campaign/", "401", "authorization: Bearer x"]
  ] as const
  for (const [path, expected, lines, method] of sealed) t.equal(await status(path, "trunkline:8000", lines, method), expected, path)
})
