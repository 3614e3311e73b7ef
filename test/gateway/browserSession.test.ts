/** The cookie of a browser in which somebody has signed in: what it is good for, and for whom it is good for nothing. */
import t from "tap"
import { openApi } from "./apiTest.ts"
import type { Sent } from "./gatewayTest.ts"

const api = await openApi(t)
const { ask, makeKey } = api
const host = `127.0.0.1:${api.port}`
const own = `http://${host}`

const signedIn = async (sent: Sent) => {
  const { headers } = await ask("POST", "/auth/browser", undefined, sent)
  return String(headers["set-cookie"])
}
/** A request with the cookie, from a page of this origin; undefined: a plain GET has none. */
const from = (cookie: string, origin?: string): Sent => {
  const [pair = ""] = cookie.split(";")
  return { key: null, headers: { cookie: `theme=dark; ${pair}`, ...(origin === undefined ? {} : { origin }) } }
}

for (const [what, email, credential] of [
  ["an API key", null, async () => ({ key: await makeKey() })],
  [
    "an account",
    "ada@example.org",
    async () => {
      const { json } = await ask("POST", "/auth/signup", { email: "ada@example.org", password: "correct horse" }, { key: null })
      return { key: null, headers: { authorization: `Bearer ${(json as { readonly token: string }).token}` } } // The answer was checked against its schema.
    }
  ]
] as const)
  t.test(`given somebody who has signed in with ${what}`, async (t) => {
    const cookie = await signedIn(await credential())
    t.match(cookie, /^trunkline=[\w.-]+; Path=\/api\/v1; HttpOnly; SameSite=Strict; Max-Age=2592000$/, "then no script can read the cookie")
    const create = (sent: Sent) => ask("POST", "/folder/", { name: "Leads" }, sent)
    const { json, status } = await ask("GET", "/auth/browser", undefined, from(cookie))
    t.equal(status, 200, "and pages of the engine need nothing else")
    t.match(json, { email, role: "owner", scopes: null, timezone: null }, "to learn who is signed in")
    t.equal((await create(from(cookie, own))).status, 200, "also to change something")
    for (const [origin, where] of [
      [`http://127.0.0.1:${api.port + 1}`, "another port"],
      [`http://evil.example`, "another site"],
      [`http://${host}.evil.example`, "a site whose name begins like the engine's"],
      ["null", "a page without an origin"],
      [undefined, "a request that does not say where it comes from"]
    ] as const)
      t.equal((await create(from(cookie, origin))).status, 401, `but not from ${where}`)
    t.equal((await ask("GET", "/organizations/context", undefined, from(cookie, "http://evil.example"))).status, 401)
  })

t.test("given a page that was opened by https, then its cookie is sent by https only", async (t) => {
  const cookie = await signedIn({ key: await makeKey(), headers: { origin: `https://${host}` } })
  t.match(cookie, /; Secure$/)
})

t.test("given somebody who signs out, then the cookie is removed", async (t) => {
  const { headers } = await ask("DELETE", "/auth/browser", undefined, { key: null })
  t.match(String(headers["set-cookie"]), /^trunkline=; .*Max-Age=0$/)
})

t.test("given a wrong key, then there is no cookie", async (t) => {
  const { headers, status } = await ask("POST", "/auth/browser", undefined, { key: "dgr_wrong" })
  t.strictSame([status, headers["set-cookie"]], [401, undefined])
})
