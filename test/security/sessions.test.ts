/** A token used to be valid for thirty days: nobody could log out or change the password, and a key had every right forever. */
import { SignJWT } from "jose"
import t from "tap"
import ari from "#adapters/ari/ari.ts"
import { scopes } from "#core/organization/Scope.ts"
import { apiRoutes } from "#gateway/api.ts"
import { bodyOf, openApi } from "#test/gateway/apiTest.ts"
import { checkedOften } from "#test/gateway/followers.ts"
import { bearer, said, type Sent } from "#test/gateway/gatewayTest.ts"

const api = await openApi(t, checkedOften)
const password = "correct horse"
const nobody: Sent = { key: null }
const as = (token: unknown) => (method: string, path: string, json?: unknown) => api.ask(method, path, json, bearer(token))

let users = 0
const signedUp = async () => {
  const email = `user${++users}@example.org`
  const { token } = bodyOf(await api.ask("POST", "/auth/signup", { email, password }, nobody))
  return { email, token: String(token) }
}
const logIn = (email: string, secret = password) => api.ask("POST", "/auth/login", { email, password: secret }, nobody)
const works = async (token: unknown) => (await as(token)("GET", "/auth/me")).status
interface Listed {
  readonly id: string
  readonly is_current: boolean
}
const sessionsOf = async (token: unknown): Promise<ReadonlyArray<Listed>> =>
  // The answer was checked against its schema.
  ((await as(token)("GET", "/user/sessions")).json as { readonly sessions: ReadonlyArray<Listed> }).sessions

t.test("given a user who is logged in twice", async (t) => {
  t.test("when they log out, then that token is refused at once, and the other still works", async (t) => {
    const { email, token } = await signedUp()
    const other = bodyOf(await logIn(email))["token"]
    t.strictSame([await works(token), await works(other)], [200, 200])
    t.strictSame(said(await as(token)("POST", "/auth/logout")), [200, { success: true, message: "Logged out successfully" }])
    t.strictSame(said(await as(token)("GET", "/auth/me")), [401, { detail: "Invalid or expired token" }])
    t.equal(await works(other), 200)
  })

  t.test("when they end the other one, then that is refused; nobody else's can be ended", async (t) => {
    const { email, token } = await signedUp()
    const other = bodyOf(await logIn(email))["token"]
    const stranger = await signedUp()
    const [first, second] = await sessionsOf(token)
    t.match([first, second], [{ is_current: false, address: "127.0.0.1" }, { is_current: true }])
    const [theirs] = await sessionsOf(stranger.token)
    const missing = [404, { detail: "Session not found" }]
    t.strictSame(said(await as(token)("DELETE", `/user/sessions/${theirs?.id}`)), missing)
    t.strictSame(said(await as(token)("DELETE", "/user/sessions/none")), missing)
    t.equal((await as(token)("DELETE", `/user/sessions/${first?.id}`)).status, 200)
    t.strictSame([await works(token), await works(other), await works(stranger.token)], [200, 401, 200])
  })

  t.test("when they log out everywhere, then no token works", async (t) => {
    const { email, token } = await signedUp()
    const other = bodyOf(await logIn(email))["token"]
    await as(other)("POST", "/auth/logout-everywhere")
    t.strictSame([await works(token), await works(other)], [401, 401])
  })

  t.test("when they change the password, then that takes the old one, and other log-ins end", async (t) => {
    const { email, token } = await signedUp()
    const other = bodyOf(await logIn(email))["token"]
    const change = (current_password: string, new_password: string) =>
      as(token)("PUT", "/user/password", { current_password, new_password })
    t.strictSame(said(await change("another horse", "battery staple")), [400, { detail: "The current password is wrong" }])
    t.equal((await change(password, "short")).status, 422)
    t.equal((await change(password, "battery staple")).status, 200)
    t.strictSame([await works(token), await works(other)], [200, 401])
    t.strictSame([(await logIn(email)).status, (await logIn(email, "battery staple")).status], [401, 200])
  })

  t.test("when both change it at once, then one succeeds", async (t) => {
    const { token } = await signedUp()
    const answers = await Promise.all(
      ["one battery", "two battery"].map((new_password) => as(token)("PUT", "/user/password", { current_password: password, new_password }))
    )
    t.strictSame(answers.map(({ status }) => status).sort(), [200, 400])
  })

  t.test("when they follow events and log out, then the connection ends", async (t) => {
    const { token } = await signedUp()
    const stream = await fetch(`http://127.0.0.1:${api.port}/api/v1/events/stream`, { headers: { authorization: `Bearer ${token}` } })
    t.equal(stream.status, 200)
    await as(token)("POST", "/auth/logout")
    t.match(await stream.text(), /retry/)
  })
})

t.test("given a token without a session, as earlier ones were, when it is used, then it is refused", async (t) => {
  const { token } = await signedUp()
  const user = bodyOf(await as(token)("GET", "/auth/me"))
  const old = await new SignJWT({ email: "a@example.org" })
    .setProtectedHeader({ alg: "HS256" })
    .setSubject(String(user.id))
    .setExpirationTime("1h")
    .sign(new TextEncoder().encode("the secret of the tokens in these tests"))
  t.equal(await works(old), 401)
})

t.test("given a session that has expired, or more than a user may have, then it is refused", async (t) => {
  const { email, token } = await signedUp()
  await api.sql`UPDATE sessions SET expires_at = now()`
  t.equal(await works(token), 401)
  const first = bodyOf(await logIn(email))["token"]
  for (let at = 0; at < 50; at++) await logIn(email)
  t.equal((await sessionsOf(bodyOf(await logIn(email))["token"])).length, 50)
  t.equal(await works(first), 401)
})

t.test("given a key that expires, then it is refused after that, and cannot be made in the past", async (t) => {
  const make = (expires_at: string) => api.ask("POST", "/user/api-keys", { name: "brief", expires_at })
  t.equal((await make("2020-01-01T00:00:00Z")).status, 422)
  const made = bodyOf(await make("2999-01-01T00:00:00Z"))
  t.match(made, { expires_at: "2999-01-01T00:00:00.000Z", scopes: null })
  await api.sql`UPDATE api_keys SET expires_at = now() WHERE id = ${made.id}`
  t.equal((await api.ask("GET", "/campaign/", undefined, { key: String(made["api_key"]) })).status, 401)
  t.match((await api.ask("GET", "/user/api-keys")).json, [{ name: "test" }, { id: made.id, is_active: false }])
})

t.test("given keys with a scope each", async (t) => {
  const keys = new Map(await Promise.all(scopes.map(async (scope) => [String(scope), await api.makeKey({ scopes: [scope] })] as const)))
  const keyOf = (scope: string) => keys.get(scope) ?? null
  const routes = apiRoutes([ari]).filter(({ access }) => access !== "none")
  const pathOf = (path: string) => path.replaceAll(/:[a-z_]+/g, "0")

  t.test("when each requests every route, then it is forbidden outside its scope", async (t) => {
    for (const scope of scopes) {
      const key = keyOf(scope)
      for (const route of routes.filter((one) => one.scope !== scope)) {
        const answer = await api.ask(route.method.toUpperCase(), pathOf(route.path), undefined, { key })
        t.strictSame(
          said(answer),
          [403, { detail: `The API key lacks the scope '${route.scope}'` }],
          `${route.method} ${route.path} by ${scope}`
        )
      }
    }
    t.strictSame(new Set(routes.map(({ scope }) => scope)), new Set(scopes))
  })

  t.test("when a route is in its scope, then the key is accepted", async (t) => {
    t.equal((await api.ask("GET", "/campaign/", undefined, { key: keyOf("read") })).status, 200)
    t.equal((await api.ask("POST", "/campaign/create", {}, { key: keyOf("campaigns") })).status, 422)
    t.equal((await api.ask("POST", "/workflow/create/definition", {}, { key: keyOf("agents") })).status, 422)
  })

  t.test("when one makes a key, then the new one has no wider scope", async (t) => {
    const make = async (more: object) => api.ask("POST", "/user/api-keys", { name: "more", ...more }, { key: keyOf("admin") })
    t.match((await make({})).json, { scopes: ["admin"] })
    t.strictSame(said(await make({ scopes: ["admin", "calls"] })), [403, { detail: "The API key lacks the scope 'calls'" }])
    t.equal((await make({ scopes: ["everything"] })).status, 422)
  })
})

/**
 * A key that expires or has few scopes could create others without these limits: by making a key, by an invitation, and by restoring an
 * archived key. Whoever found such a key kept its access forever.
 */
t.test("given keys with limits", async (t) => {
  const expiry = "2998-01-01T00:00:00.000Z"
  const brief = { key: await api.makeKey({ name: "brief", role: "admin", expires_at: expiry }) }
  const narrow = { key: await api.makeKey({ role: "admin", scopes: ["admin"] }) }
  const make = (sent: typeof brief, more: object = {}) => api.ask("POST", "/user/api-keys", { name: "made", ...more }, sent)
  const invite = (sent: typeof brief | undefined, email: string) =>
    api.ask("POST", "/organizations/invitations", { email, role: "admin" }, sent)
  const redeem = (email: string, token: unknown) =>
    api.ask("POST", "/auth/signup", { email, password: "correct horse", invitation_token: token }, { key: null })

  t.test("given a key that expires", async (t) => {
    t.test("when it makes a key, then that one expires with it, or earlier", async (t) => {
      const expiries = await Promise.all([
        make(brief),
        make(brief, { expires_at: "2999-01-01T00:00:00Z" }),
        make(brief, { expires_at: "2997-01-01T00:00:00Z" })
      ])
      const kept = expiries.map((made) => bodyOf(made)["expires_at"])
      t.strictSame(kept, [expiry, expiry, "2997-01-01T00:00:00.000Z"])
    })

    t.test("when one that does not expire makes a key, then the new one does not expire either", async (t) => {
      t.match((await api.ask("POST", "/user/api-keys", { name: "made" })).json, { expires_at: null })
    })

    t.test("when an archived one that lasts longer is to be restored, then that takes another key", async (t) => {
      const { id } = bodyOf(await api.ask("POST", "/user/api-keys", { name: "archived" }))
      await api.ask("DELETE", `/user/api-keys/${id}`)
      const again = (sent?: typeof brief) => api.ask("PUT", `/user/api-keys/${id}/reactivate`, undefined, sent)
      t.strictSame([(await again(brief)).status, (await again(narrow)).status, (await again()).status], [403, 403, 200])
    })

    t.test("when it has expired, then its invitations are void", async (t) => {
      const { token } = bodyOf(await invite(brief, "late@example.org"))
      const good = bodyOf(await invite(brief, "intime@example.org"))["token"]
      t.equal((await redeem("intime@example.org", good)).status, 200)
      await api.sql`UPDATE api_keys SET expires_at = now() WHERE name = 'brief'`
      t.equal((await redeem("late@example.org", token)).status, 403)
    })
  })

  t.test("given a key with scopes, when it invites somebody, who would have every scope, then it is refused", async (t) => {
    const refused = await invite(narrow, "wide@example.org")
    t.strictSame([refused.status, refused.json], [403, { detail: "The API key lacks the scope 'read'" }])
    t.equal((await invite(undefined, "wide@example.org")).status, 200)
  })
})
