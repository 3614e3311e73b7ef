/**
 * A key that expires or has few scopes could create others without these limits: by making a key, by an invitation, and by restoring an
 * archived key. Whoever found such a key kept its access forever.
 */
import t from "tap"
import { bodyOf, openApi } from "#test/gateway/apiTest.ts"

const api = await openApi(t)
const until = "2998-01-01T00:00:00.000Z"
const brief = { key: await api.makeKey({ name: "brief", role: "admin", expires_at: until }) }
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
    t.strictSame(
      expiries.map((made) => bodyOf(made)["expires_at"]),
      [until, until, "2997-01-01T00:00:00.000Z"]
    )
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
