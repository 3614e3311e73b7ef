/**
 * Anybody who reached the API could sign up, answers revealed whether an address was registered, and any registered user could be made a
 * member of any organization without being asked.
 */
import { Effect, Layer, Redacted } from "effect"
import { Digest } from "effect/crypto"
import { SqlClient } from "effect/sql"
import t from "tap"
import { ApiKeys } from "#core/organization/ApiKeys.ts"
import type { Caller } from "#core/organization/Caller.ts"
import { redeem } from "#core/organization/InvitationStore.ts"
import { Invitations } from "#core/organization/Invitations.ts"
import { Members } from "#core/organization/Members.ts"
import { Organizations } from "#core/organization/Organizations.ts"
import type { Role } from "#core/organization/Role.ts"
import { hashOf } from "#core/organization/Secret.ts"
import { SignupPolicy } from "#core/organization/SignUp.ts"
import { Tokens } from "#core/organization/Tokens.ts"
import { claimFirst } from "#core/organization/UserStore.ts"
import { Users } from "#core/organization/Users.ts"
import * as passwords from "#runtime/identity/passwords.ts"
import { tokensOf } from "#runtime/identity/tokens.ts"
import { bodyOf, openApi, type TestApi } from "#test/gateway/apiTest.ts"
import { type Answer, bearer, said, type Sent } from "#test/gateway/gatewayTest.ts"
import { install, keyOf, tag, theirs } from "#test/store/services.ts"

const invite = Layer.succeed(SignupPolicy, { mode: "invite", concurrencyLimit: 10 } as const)
const password = "correct horse"
const anybody: Sent = { key: null }
const passedOn = { key: null, headers: { "x-forwarded-for": "198.51.100.1" } }

/** What a start does, and prints, while nobody has an account. */
const setUpCodeOf = async ({ database }: TestApi): Promise<string> => {
  const code = await database.run(Organizations.use((_) => _.newSetUpCode).pipe(Effect.provide(Organizations.layer)))
  return code === undefined ? "" : Redacted.value(code)
}

t.test("given an engine without accounts, when this machine asks, then only the latest set-up code makes the owner", async (t) => {
  const api = await openApi(t, invite)
  const signUp = (email: string, headers: Sent["headers"] = {}, more: object = {}) =>
    api.ask("POST", "/auth/signup", { email, password, ...more }, { key: null, headers })
  const ways: ReadonlyArray<NonNullable<Sent["headers"]>> = [
    { "x-forwarded-proto": "https" },
    { "x-forwarded-host": "calls.example.com" },
    { "x-forwarded-port": "443" },
    { "x-made-up-by-a-proxy": "1" },
    {},
    { origin: "http://localhost:3010" },
    passedOn.headers
  ]
  for (const headers of ways) t.equal((await signUp("stranger@example.org", headers)).status, 403, JSON.stringify(headers))
  t.equal((await signUp("stranger@example.org", {}, { setup_code: "guess" })).status, 403)
  const former = await setUpCodeOf(api)
  const code = await setUpCodeOf(api)
  t.equal((await signUp("stranger@example.org", {}, { setup_code: former })).status, 403, "a code is void once there is a newer one")
  t.match(bodyOf(await signUp("first@example.org", passedOn.headers, { setup_code: code })), {
    user: { organization_id: api.organizationId }
  })
  t.match((await api.ask("GET", "/organizations/members")).json, { members: [{ email: "first@example.org", role: "owner" }] })
  t.equal((await signUp("second@example.org", {}, { setup_code: code })).status, 403, "it is good once")
  t.equal(await setUpCodeOf(api), "", "and there is no other")
})

t.test("given an engine with accounts, when strangers ask about addresses, then every answer is the same", async (t) => {
  const api = await openApi(t, invite)
  const post = (path: string, json: object, sent: Sent = anybody) => api.ask("POST", path, json, sent)
  await post("/auth/signup", { email: "there@example.org", password, setup_code: await setUpCodeOf(api) })
  const there = "there@example.org"
  const nobody = "nobody@example.org"
  const wrong = "another horse"
  const alike = async (ask: (email: string) => Promise<Answer>) => {
    const [one, other] = [await ask(there), await ask(nobody)]
    const normal = (answer: Answer, email: string) => [
      answer.status,
      answer.text.replaceAll(email, "#").replaceAll(/"(id|token|\w+_at)":("[^"]*"|\d+)/g, "$1")
    ]
    t.strictSame(normal(one, there), normal(other, nobody))
    return one.status
  }
  t.equal(await alike((email) => post("/auth/signup", { email, password: wrong })), 403)
  t.equal(await alike((email) => post("/auth/signup", { email, password: wrong, invitation_token: "tli_none" })), 403)
  t.equal(await alike((email) => post("/auth/login", { email, password: wrong })), 401)
  const invited = (email: string) => api.askAsOther("POST", "/organizations/invitations", { email, role: "viewer" })
  t.equal(await alike(invited), 200)
  t.equal((await api.ask("POST", "/organizations/members", { email: there, role: "viewer" })).status, 405)
})

t.test("given an invitation", async (t) => {
  const api = await openApi(t, invite)
  const invited = async (email: string, role: Role = "member") =>
    bodyOf(await api.ask("POST", "/organizations/invitations", { email, role }))
  const signUp = (email: string, token: unknown, secret = password) =>
    api.ask("POST", "/auth/signup", { email, password: secret, invitation_token: token }, passedOn)

  t.test("when it is redeemed at sign-up, then it works once, for its address and with its role", async (t) => {
    const code = await setUpCodeOf(api)
    const { token } = await invited("Ada@example.org")
    t.equal((await signUp("eve@example.org", token)).status, 403)
    const ada = bodyOf(await signUp("ADA@example.org", token))
    t.match(ada, { user: { email: "ada@example.org", organization_id: api.organizationId } })
    t.equal((await signUp("ada@example.org", token)).status, 403)
    const late = await api.ask("POST", "/auth/signup", { email: "eve@example.org", password, setup_code: code }, passedOn)
    t.equal(late.status, 403, "there is an account, so the set-up code is void")
    t.match((await api.ask("GET", "/organizations/invitations")).json, { invitations: [{ email: "ada@example.org", status: "redeemed" }] })
    t.match((await api.ask("GET", "/organizations/members")).json, { members: [{ email: "ada@example.org", role: "member" }] })
  })

  t.test("when it is revoked, or has expired, then it is void", async (t) => {
    const [revoked, expired] = [await invited("bob@example.org"), await invited("cem@example.org")]
    t.equal((await api.ask("DELETE", `/organizations/invitations/${revoked.id}`)).status, 200)
    t.equal((await api.askAsOther("DELETE", `/organizations/invitations/${expired.id}`)).status, 404)
    await api.database.run(SqlClient.SqlClient.use((sql) => sql`UPDATE invitations SET expires_at = now() WHERE id = ${expired.id}`))
    t.equal((await signUp("bob@example.org", revoked["token"])).status, 403)
    t.equal((await signUp("cem@example.org", expired["token"])).status, 403)
  })

  t.test("when somebody has an account already, then the password redeems it, and a wrong one reveals nothing", async (t) => {
    const first = await invited("dan@example.org")
    await signUp("dan@example.org", first["token"])
    const other = bodyOf(await api.askAsOther("POST", "/organizations/invitations", { email: "dan@example.org", role: "viewer" }))
    t.equal((await signUp("dan@example.org", other["token"], "another horse")).status, 403)
    const dan = bodyOf(await signUp("dan@example.org", other["token"]))
    t.match((await api.ask("GET", "/user/organizations", undefined, bearer(dan["token"]))).json, {
      organizations: [
        { name: "Ours", role: "member" },
        { name: "Other", role: "viewer", is_selected: true }
      ]
    })
  })

  t.test("when a token is made up, then a logged-in user learns no more than anybody", async (t) => {
    const eve = bodyOf(await signUp("eve@example.org", (await invited("eve@example.org"))["token"]))
    const asEve = bearer(eve["token"])
    const { token } = await invited("frank@example.org")
    const refused = [400, { detail: "Invalid or expired invitation" }]
    t.strictSame(said(await api.ask("POST", "/user/invitations/redeem", { token: "tli_none" }, asEve)), refused)
    t.strictSame(said(await api.ask("POST", "/user/invitations/redeem", { token }, asEve)), refused)
  })
})

const usersWith = () =>
  Users.layer.pipe(
    Layer.provide([
      invite,
      passwords.layer({ cost: 16, blockSize: 8, parallelization: 1 }),
      Layer.succeed(Tokens, tokensOf(Redacted.make("the secret of the tokens in these tests")))
    ])
  )

t.test("given the services", async (t) => {
  const { run } = await install(t)
  const [owner, another] = await run(Effect.all([keyOf(), keyOf(theirs)]))
  const away = "198.51.100.1"

  t.test("when one token is sent several times at once, by sign-up and by a user, then it works once", async (t) => {
    const { answers } = await run(
      Effect.gen(function* () {
        const invitations = yield* Invitations
        const { signUp } = yield* Users
        const { token } = yield* invitations.invite(owner, { email: "twice@example.org", role: "viewer", days: 1 })
        const invitationToken = Redacted.value(token)
        const made = yield* signUp({ email: "twice@example.org", password, invitationToken }, away)
        const again = yield* invitations.invite(another, { email: "twice@example.org", role: "viewer", days: 1 })
        const second = Redacted.value(again.token)
        const byUser = tag(invitations.redeem(made.user.id, second))
        const bySignUp = tag(signUp({ email: "twice@example.org", password, invitationToken: second }, away))
        return { answers: yield* Effect.all([byUser, bySignUp, byUser, bySignUp], { concurrency: "unbounded" }) }
      }).pipe(Effect.provide(Layer.fresh(usersWith())))
    )
    t.equal(answers.filter((answer) => answer === "none").length, 1, answers.join())
  })

  t.test("when the inviter is no longer a member, has a lesser role, or the key is archived, then the invitation is void", async (t) => {
    const answers = await run(
      Effect.gen(function* () {
        const { invite } = yield* Invitations
        const users = yield* Users
        const { signUp } = users
        const members = yield* Members
        const keys = yield* ApiKeys
        const joined = Effect.fnUntraced(function* (email: string, caller: Caller, role: Role) {
          const { token } = yield* invite(caller, { email, role, days: 1 })
          return signUp({ email, password, invitationToken: Redacted.value(token) }, away)
        })
        const entered = yield* yield* joined("admin@example.org", owner, "admin")
        const admin = entered.user
        const byAdmin = yield* users.authenticate(entered.token)
        const { made } = yield* keys.create(owner, { name: "inviting", role: "admin" })
        const [demoted, removed, byKey] = [
          yield* joined("one@example.org", byAdmin, "admin"),
          yield* joined("two@example.org", byAdmin, "viewer"),
          yield* joined("three@example.org", { ...owner, apiKeyId: made.id }, "viewer")
        ]
        yield* members.setRole(owner, admin.id, "member")
        const first = yield* tag(demoted)
        yield* members.remove(owner, admin.id)
        yield* keys.archive(owner, made.id)
        return [first, yield* tag(removed), yield* tag(byKey)]
      }).pipe(Effect.provide(Layer.fresh(usersWith())))
    )
    t.strictSame(answers, ["SignupRefused", "SignupRefused", "SignupRefused"])
  })
})

const many = Array.from({ length: 48 })

/** Enters several times at once, each in its own transaction, as sign-ups do; returns the results. */
const atOnce = <A>(enter: (sql: SqlClient.SqlClient) => Effect.Effect<A, unknown>) =>
  Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    return yield* Effect.forEach(many, () => Effect.orDie(sql.withTransaction(enter(sql))), { concurrency: "unbounded" })
  })

t.test("given an invitation, when its token is sent many times at once, then it works once", async (t) => {
  const { run } = await install(t)
  const places = await run(function* () {
    const owner = yield* keyOf()
    const { token } = yield* Invitations.use((_) => _.invite(owner, { email: "many@example.org", role: "viewer", days: 1 }))
    const hash = yield* hashOf(Redacted.value(token)).pipe(Effect.provide(Digest.layerWebCrypto))
    return yield* atOnce((sql) => redeem(sql, hash, "many@example.org"))
  })
  t.equal(places.filter((place) => place !== undefined).length, 1)
})

t.test("given the set-up code, when it is sent many times at once, then one becomes the first owner", async (t) => {
  const { run } = await install(t)
  const first = await run(function* () {
    const code = yield* Organizations.use((_) => _.newSetUpCode)
    const hash = yield* hashOf(code === undefined ? "" : Redacted.value(code)).pipe(Effect.provide(Digest.layerWebCrypto))
    return yield* atOnce((sql) => claimFirst(sql, hash))
  })
  t.equal(first.filter((isFirst) => isFirst).length, 1)
})
