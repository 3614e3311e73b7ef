import { SignJWT } from "jose"
import t from "tap"
import { bodyOf, openApi } from "./apiTest.ts"
import { type Answer, bearer, said } from "./gatewayTest.ts"

const api = await openApi(t)
const { ask, askAsOther, makeAgent, makeKey } = api

const keepsAll = {
  recordings_days: null,
  transcripts_days: null,
  recordings_enabled: true,
  transcripts_enabled: true,
  recording_format: null
}
const refusal = (status: number, detail: string): unknown => [status, { detail }]

/** Sends requests with this token or key. */
const askAs = (credential: string) => (method: string, path: string, json?: unknown) => ask(method, path, json, bearer(credential))

interface AuditPage {
  readonly entries: ReadonlyArray<{ readonly id: number; readonly api_key_name: string | null }>
  readonly next_before: number | null
}
const pageOf = ({ json }: Answer): AuditPage => json as AuditPage // The answer was checked against its schema.

interface Session {
  readonly token: string
  readonly user: Readonly<Record<string, unknown>> & { readonly id: number }
}

const signUp = async (email: string, more: object = {}) => {
  const { json } = await ask("POST", "/auth/signup", { email, password: "correct horse", ...more }, { key: null })
  const { token, user } = json as Session // The answer was checked against its schema.
  return { token, user, ask: askAs(token) }
}

t.test("given somebody without an account", async (t) => {
  t.test("when they sign up, then they own an organization, and the token is valid for everything in it", async (t) => {
    const ada = await signUp("Ada@Example.org", { name: "Ada" })
    t.match(ada.user, { email: "ada@example.org", name: "Ada", organization_id: Number, provider_id: /^usr_[0-9a-f-]{36}$/ })
    t.strictSame(said(await ada.ask("GET", "/auth/me")), [200, ada.user])
    t.strictSame(said(await ada.ask("GET", "/user/auth/user")), [200, { id: ada.user.id, is_superuser: false }])
    t.match((await ada.ask("GET", "/organizations/context")).json, {
      organization_id: ada.user["organization_id"],
      organization_provider_id: `org_${String(ada.user["provider_id"])}`
    })
    t.strictSame((await ada.ask("GET", "/campaign/")).json, { campaigns: [] })
    t.match((await ada.ask("GET", "/organizations/members")).json, { members: [{ email: "ada@example.org", role: "owner" }] })
  })

  t.test("when the address is invalid or the password too short, then the answer says so and repeats no password", async (t) => {
    const signing = (json: unknown) => ask("POST", "/auth/signup", json, { key: null })
    const bad = await signing({ email: "ada at example", password: "short😀" })
    t.equal(bad.status, 422)
    t.match(bad.json, {
      detail: [
        { loc: ["body", "email"], msg: "Value error, value is not a valid email address", input: null },
        { loc: ["body", "password"], msg: "Value error, Password must be at least 8 characters", input: null }
      ]
    })
    t.notMatch((await signing({ password: "correct horse" })).text, /horse/)
  })

  t.test("when they log in, then with the right password alone", async (t) => {
    const logIn = (email: string, password: string) => ask("POST", "/auth/login", { email, password }, { key: null })
    t.match((await logIn("ada@EXAMPLE.org", "correct horse")).json, { token: /^eyJ/, user: { email: "ada@example.org" } })
    t.strictSame(said(await logIn("ada@example.org", "wrong")), refusal(401, "Invalid email or password"))
  })
})

t.test("given invalid credentials", async (t) => {
  const me = (authorization: string) => ask("GET", "/auth/me", undefined, { key: null, headers: { authorization } })
  const forged = (claims: object, secret = "the secret of the tokens in these tests") =>
    new SignJWT({ ...claims }).setProtectedHeader({ alg: "HS256" }).setExpirationTime("1h").sign(new TextEncoder().encode(secret))

  t.test("when a token is used, then it must be ours, and belong to an existing user", async (t) => {
    for (const [token, detail] of [
      [await forged({ sub: "1" }, "another secret, as long as it should be"), "Invalid or expired token"],
      [await forged({ sub: "999999" }), "User not found"],
      [await forged({ sub: "99999999999999" }), "Invalid or expired token"],
      ["eyJ.x.y", "Invalid or expired token"]
    ] as const)
      t.strictSame(said(await me(token)), refusal(401, detail))
  })

  t.test("when a token is sent in place of a key, then it is refused", async (t) => {
    const { token } = await signUp("key@example.org")
    t.strictSame(said(await ask("GET", "/auth/me", undefined, { key: token })), refusal(401, "Invalid or expired API key"))
    t.equal((await me(token)).status, 200, "without Bearer")
  })

  t.test("when a key without a user requests its user, then there is none", async (t) => {
    t.strictSame(said(await ask("GET", "/auth/me")), refusal(401, "API key has no associated user"))
    t.strictSame(said(await ask("PUT", "/user/onboarding-state", {})), refusal(401, "API key has no associated user"))
  })
})

t.test("given API keys", async (t) => {
  t.test("when one is created, then it is shown once, works at once, and no longer works when it is archived", async (t) => {
    const made = bodyOf(await ask("POST", "/user/api-keys", { name: "CI" }))
    const key = String(made["api_key"])
    t.match(key, /^tlk_[\w-]{43}$/)
    t.match(made, { name: "CI", role: "admin", key_prefix: key.slice(0, 8) })
    t.equal((await askAs(key)("GET", "/campaign/")).status, 200)
    const listed = await ask("GET", "/user/api-keys")
    t.match(listed.json, [{ name: "test" }, { id: made.id, is_active: true, archived_at: null, key_prefix: key.slice(0, 8) }])
    t.notOk(listed.text.includes(key))

    const archived = [200, { success: true, message: "API key archived successfully" }]
    t.strictSame(said(await ask("DELETE", `/user/api-keys/${made.id}`)), archived)
    t.strictSame(said(await askAs(key)("GET", "/campaign/")), refusal(401, "Invalid or expired token"))
    t.strictSame(said(await ask("DELETE", `/user/api-keys/${made.id}`)), archived)
    t.match((await ask("GET", "/user/api-keys")).json, [{ name: "test" }])
    t.match((await ask("GET", "/user/api-keys?include_archived=true")).json, [{ name: "test" }, { id: made.id, is_active: false }])

    t.strictSame(said(await ask("PUT", `/user/api-keys/${made.id}/reactivate`)), [
      200,
      { success: true, message: "API key reactivated successfully" }
    ])
    t.equal((await askAs(key)("GET", "/campaign/")).status, 200)
    t.strictSame(said(await ask("DELETE", "/user/api-keys/999999")), refusal(404, "API key not found"))
  })

  t.test("when an admin creates one, then not above their own role", async (t) => {
    const admin = askAs(await makeKey({ role: "admin" }))
    const settings = { concurrency_limit: 5, concurrency_reserve: 1 }
    t.strictSame(said(await admin("PUT", "/organizations/settings", settings)), [200, { ...settings, ...keepsAll }])
    const made = await admin("POST", "/user/api-keys", { name: "x", role: "owner" })
    t.strictSame(said(made), refusal(403, "Your role does not allow this"))
    t.equal((await admin("POST", "/user/api-keys", { name: "x", role: "superuser" })).status, 422)
  })
})

t.test("given members", async (t) => {
  const eve = await signUp("eve@example.org")

  t.test("when one is invited, then they can join and work there, by their role, and be removed", async (t) => {
    const invite = (email: string) => ask("POST", "/organizations/invitations", { email, role: "viewer" })
    const invited = bodyOf(await invite("EVE@example.org"))
    t.match(invited, { email: "eve@example.org", role: "viewer", status: "pending", token: /^tli_/ })
    const joined = await eve.ask("POST", "/user/invitations/redeem", { token: invited["token"] })
    t.strictSame(said(await invite("eve@example.org")), refusal(409, "This user is already a member"))
    t.match(joined.json, {
      organizations: [
        { name: "eve@example.org", role: "owner", is_selected: false },
        { id: api.organizationId, name: "Ours", role: "viewer", is_selected: true }
      ]
    })
    t.match((await eve.ask("GET", "/auth/me")).json, { organization_id: api.organizationId })
    t.strictSame(said(await eve.ask("POST", "/workflow/create/definition", {})), refusal(403, "Your role does not allow this"))

    t.match((await ask("PATCH", `/organizations/members/${eve.user.id}`, { role: "member" })).json, { role: "member" })
    t.equal((await eve.ask("POST", "/workflow/create/definition", {})).status, 422)

    t.match((await ask("DELETE", `/organizations/members/${eve.user.id}`)).json, { success: true })
    t.match((await eve.ask("GET", "/auth/me")).json, { organization_id: eve.user["organization_id"] })
    t.strictSame(
      said(await eve.ask("PUT", "/user/organization", { organization_id: api.organizationId })),
      refusal(404, "Organization not found")
    )
  })

  t.test("when the last owner would be removed, or somebody else's member, then that is refused", async (t) => {
    const path = `/organizations/members/${eve.user.id}`
    const lastOwner = refusal(409, "An organization must have an owner")
    t.strictSame(said(await eve.ask("DELETE", path)), lastOwner)
    t.strictSame(said(await eve.ask("PATCH", path, { role: "admin" })), lastOwner)
    t.strictSame(said(await ask("DELETE", path)), refusal(404, "Member not found"))
  })

  t.test("when a user's key requests the user's organizations, then only the user may", async (t) => {
    const { api_key } = bodyOf(await eve.ask("POST", "/user/api-keys", { name: "eve's" }))
    const asKey = askAs(String(api_key))
    t.match((await asKey("GET", "/auth/me")).json, { email: "eve@example.org" })
    t.strictSame(said(await asKey("GET", "/user/organizations")), refusal(403, "Only a logged-in user may do this"))
  })
})

t.test("given the settings of an organization", async (t) => {
  t.test("when preferences are written, then they are replaced as a whole", async (t) => {
    const preferences = { test_phone_number: "+15550100", timezone: "Europe/Berlin", external_pbx_integrations_enabled: true }
    const none = { test_phone_number: null, timezone: null, external_pbx_integrations_enabled: false }
    t.strictSame(said(await ask("GET", "/organizations/preferences")), [200, none])
    t.strictSame(said(await ask("PUT", "/organizations/preferences", preferences)), [200, preferences])
    t.strictSame(said(await ask("GET", "/organizations/preferences")), [200, preferences])
    t.strictSame(said(await askAsOther("GET", "/organizations/preferences")), [200, none])
    t.strictSame(said(await ask("PUT", "/organizations/preferences", {})), [200, none])
    t.equal((await ask("PUT", "/organizations/preferences", { timezone: "Mars/Olympus" })).status, 422)
  })

  t.test("when the reserve is above the limit, or either is not a number of calls, then 422", async (t) => {
    const put = async (concurrency_limit: unknown, concurrency_reserve: unknown) =>
      (await ask("PUT", "/organizations/settings", { concurrency_limit, concurrency_reserve })).status
    t.strictSame([await put(1, 2), await put(-1, 0), await put(1e9, 0), await put(3, null), await put(0, 0)], [422, 422, 422, 422, 200])
    t.strictSame((await ask("GET", "/organizations/settings")).json, { concurrency_limit: 0, concurrency_reserve: 0, ...keepsAll })
  })

  t.test("when it wants nothing of its calls to be kept, then that stays until it is changed", async (t) => {
    const none = { recordings_enabled: false, transcripts_enabled: false }
    const limits = { concurrency_limit: 1, concurrency_reserve: 0 }
    const put = async (changes: object) => (await ask("PUT", "/organizations/settings", { ...limits, ...changes })).json
    t.match(await put(none), none)
    t.match(await put({ recordings_days: 3 }), { ...none, recordings_days: 3 })
    t.match(await put({ ...keepsAll, recordings_enabled: null }), { ...none, transcripts_enabled: true })
    t.match(await put(keepsAll), keepsAll)
  })
})

t.test("given a user's onboarding, when it continues, then omitted fields stay and lists grow", async (t) => {
  const user = await signUp("new@example.org")
  const put = async (json: object) => (await user.ask("PUT", "/user/onboarding-state", json)).json
  t.strictSame((await user.ask("GET", "/user/onboarding-state")).json, {
    completed_at: null,
    skipped: false,
    seen_tooltips: [],
    completed_actions: []
  })
  await put({ skipped: true, seen_tooltips: ["a", "b"] })
  t.strictSame(await put({ completed_at: "2026-06-01T10:00:00Z", seen_tooltips: ["b", "c"], completed_actions: ["call"] }), {
    completed_at: "2026-06-01T10:00:00Z",
    skipped: true,
    seen_tooltips: ["a", "b", "c"],
    completed_actions: ["call"]
  })
})

t.test("given the audit log", async (t) => {
  const bob = await signUp("bob@example.org")

  t.test("when something was changed, then it says who did what, and nothing about what was sent or refused", async (t) => {
    await bob.ask("PUT", "/organizations/preferences", { test_phone_number: "+15550177" })
    const { api_key, id } = bodyOf(await bob.ask("POST", "/user/api-keys", { name: "robot", role: "member" }))
    const asRobot = askAs(String(api_key))
    await asRobot("GET", "/campaign/")
    await asRobot("PUT", "/organizations/settings", { concurrency_limit: 1, concurrency_reserve: 0 })
    await bob.ask("DELETE", "/user/api-keys/999999")
    await bob.ask("DELETE", `/user/api-keys/${id}`)
    const log = await bob.ask("GET", "/organizations/audit-log")
    t.match(log.json, {
      entries: [
        { action: "archiveApiKey", resource_kind: "api_keys", resource_id: String(id), user_email: "bob@example.org", api_key_id: null },
        { action: "createApiKey", resource_kind: "api_keys", resource_id: String(id), user_id: bob.user.id },
        { action: "setOrganizationPreferences", resource_kind: "organization", resource_id: null }
      ],
      next_before: null
    })
    t.equal(pageOf(log).entries.length, 3)
    t.notMatch(log.text, /15550177|tlk_/)
  })

  t.test("when it is read in pages, then each says where the next one begins", async (t) => {
    const first = pageOf(await bob.ask("GET", "/organizations/audit-log?limit=2"))
    const second = pageOf(await bob.ask("GET", `/organizations/audit-log?limit=2&before=${first.next_before}`))
    t.strictSame([...first.entries, ...second.entries], pageOf(await bob.ask("GET", "/organizations/audit-log")).entries)
    t.strictSame([first.entries.length, second.next_before], [2, null])
  })

  t.test("when another organization reads it, then it sees its own", async (t) => {
    await makeAgent()
    t.strictSame((await askAsOther("GET", "/organizations/audit-log")).json, { entries: [], next_before: null })
    t.match((await ask("GET", "/organizations/audit-log?limit=1")).json, {
      entries: [{ action: "createWorkflow", resource_id: String, api_key_name: "test", user_id: null }]
    })
  })
})
