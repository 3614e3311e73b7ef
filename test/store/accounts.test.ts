import { Effect, Layer, Redacted } from "effect"
import { TestClock } from "effect/testing"
import t from "tap"
import { Campaigns } from "#core/campaign/Campaigns.ts"
import { ApiKeys } from "#core/organization/ApiKeys.ts"
import { AuditLog } from "#core/organization/AuditLog.ts"
import { ApiKeyId, UserId } from "#core/organization/Caller.ts"
import { CurrentTenant } from "#core/organization/CurrentTenant.ts"
import { InstallationSecrets } from "#core/organization/InstallationSecrets.ts"
import { Invitations } from "#core/organization/Invitations.ts"
import { Members } from "#core/organization/Members.ts"
import { Organizations } from "#core/organization/Organizations.ts"
import { OrganizationSettings } from "#core/organization/OrganizationSettings.ts"
import { Passwords } from "#core/organization/Passwords.ts"
import type { Role } from "#core/organization/Role.ts"
import { Tokens } from "#core/organization/Tokens.ts"
import { SessionId } from "#core/organization/Session.ts"
import { SignupPolicy } from "#core/organization/SignUp.ts"
import { Users } from "#core/organization/Users.ts"
import * as passwords from "#runtime/identity/passwords.ts"
import { tokensOf } from "#runtime/identity/tokens.ts"
import { column, install, keyOf, makeCampaign, makeConfig, ours, tag, theirs } from "./services.ts"

const { heard, run, sql, test } = await install(t)
const [invitations, users, members, keys, organizations, settings, log] = await run(
  Effect.all([Invitations, Users, Members, ApiKeys, Organizations, OrganizationSettings, AuditLog])
)
/** A session that nobody has started. */
const session = SessionId.make("00000000-0000-4000-8000-000000000000")

const [owner, admin, another] = await run(Effect.all([keyOf(), keyOf(ours, "admin"), keyOf(theirs)]))
const signUp = (email: string, password = "correct horse") => Users.use((_) => _.signUp({ email, password }, "192.0.2.1"))
const joined = Effect.fnUntraced(function* (email: string, role: Role, id: UserId) {
  const { token } = yield* invitations.invite(owner, { email, role, days: 1 })
  yield* invitations.redeem(id, Redacted.value(token))
})
const added = Effect.fnUntraced(function* (email: string, role: Role) {
  const { user } = yield* signUp(email)
  yield* joined(email, role, user.id)
  return user
})

t.test("given a user who signed up", async (t) => {
  test(t, "when the token is used, then it identifies the owner of a new organization", function* (t) {
    const { organizationId, token, user } = yield* signUp("Ada@Example.org")
    const caller = yield* Users.use((_) => _.authenticate(token))
    const stored = yield* sql`SELECT password_hash FROM users WHERE id = ${user.id}`
    t.match(caller, { organizationId, role: "owner", userId: user.id, sessionId: /^[0-9a-f-]{36}$/ })
    t.equal(user.email, "ada@example.org")
    t.match(stored, [{ passwordHash: /^scrypt\$16\$8\$1\$[\w-]{22}\$[\w-]{43}$/ }])
  })

  test(t, "when somebody signs up with the same address, in whatever case, then its password is needed", function* (t) {
    t.strictSame(yield* Effect.all([tag(signUp("ADA@example.org", "wrong horse")), tag(signUp("ADA@example.org"))]), [
      "SignupRefused",
      "none"
    ])
  })

  test(t, "when they log in, then only with the right password, and an unknown address is refused in the same way", function* (t) {
    const logIn = (email: string, password: string) => Users.use((_) => tag(_.logIn(email, password, "192.0.2.1")))
    const answers = yield* Effect.all([
      logIn("ADA@EXAMPLE.ORG", "correct horse"),
      logIn("ada@example.org", "wrong horse"),
      logIn("nobody@example.org", "correct horse")
    ])
    t.strictSame(answers, ["none", "LoginRefused", "LoginRefused"])
  })

  test(t, "when a token is altered, foreign, or without a user or session, then it is refused", function* (t) {
    const elsewhere = tokensOf(Redacted.make("the secret of another installation altogether"))
    const here = tokensOf(Redacted.make("the secret of the tokens in these tests"))
    const user = { id: UserId.make(1), email: "ada@example.org" }
    const good = yield* here.issue(user, session)
    const nobody = yield* here.issue({ ...user, id: UserId.make(999_999) }, session)
    const unsigned = `${Buffer.from('{"alg":"none"}').toString("base64url")}.${good.split(".")[1]}.`
    const tokens = [good, `${good}x`, yield* elsewhere.issue(user, session), unsigned, "x", nobody]
    const refused = yield* Effect.forEach(tokens, (token) => tag(users.authenticate(token)))
    t.strictSame(refused, ["InvalidToken", "InvalidToken", "InvalidToken", "InvalidToken", "InvalidToken", "UserNotFound"])
  })
})

test(t, "given an installation without sign-up, when somebody signs up, then that is refused", function* (t) {
  const closed = Users.layer.pipe(
    Layer.provide(Layer.succeed(SignupPolicy, { mode: "off", concurrencyLimit: 1 })),
    Layer.provide(Layer.succeed(Tokens, tokensOf(Redacted.make("the secret of the tokens in these tests")))),
    Layer.provide(passwords.layer())
  )
  t.equal(yield* tag(signUp("late@example.org")).pipe(Effect.provide(Layer.fresh(closed))), "SignupDisabled")
  t.strictSame(yield* sql`SELECT id FROM users WHERE email = 'late@example.org'`, [])
})

t.test("given a token, when 30 days have gone, then it is refused", async (t) => {
  const tokens = tokensOf(Redacted.make("the secret of the tokens in these tests"))
  const [before, after] = await Effect.runPromise(
    Effect.gen(function* () {
      const token = yield* tokens.issue({ id: UserId.make(7), email: "a@example.org" }, session)
      yield* TestClock.adjust("719 hours")
      const before = yield* tag(tokens.verify(token))
      yield* TestClock.adjust("2 hours")
      return [before, yield* tag(tokens.verify(token))]
    }).pipe(Effect.provide(TestClock.layer()))
  )
  t.strictSame([before, after], ["none", "InvalidToken"])
})

t.test("given passwords as they are really stored", async (t) => {
  const [right, wrong, nobody, hashes] = await Effect.runPromise(
    Effect.gen(function* () {
      const { hash, verify } = yield* Passwords
      const [one, other] = [yield* hash("pässword 1"), yield* hash("pässword 1")]
      return [
        yield* verify("pa\u0308ssword 1", one),
        yield* verify("password 1", one),
        yield* verify("pässword 1", undefined),
        [one, other]
      ] as const
    }).pipe(Effect.provide(passwords.layer()))
  )
  t.strictSame([right, wrong, nobody], [true, false, false], "however the umlaut was typed")
  t.equal(new Set(hashes).size, 2)
  t.match(hashes[0], /^scrypt\$32768\$8\$3\$/)
})

test(t, "given secrets of the installation, when they are read again, then they are the same", function* (t) {
  const secrets = yield* Effect.provide(InstallationSecrets, Layer.fresh(InstallationSecrets.layer))
  const read = yield* Effect.forEach(["one", "one", "other"], secrets.get, { concurrency: 3 })
  const [first, again, other] = read.map(Redacted.value)
  t.match(first, /^[\w-]{43}$/)
  t.equal(again, first)
  t.not(other, first)
})

t.test("given members", async (t) => {
  test(t, "when an admin changes an owner or creates one, then that is not allowed", function* (t) {
    const { invite } = yield* Invitations
    const { id } = yield* added("owner@example.org", "owner")
    yield* signUp("new@example.org")
    const invited = (email: string, role: Role) => tag(invite(admin, { email, role, days: 1 }))
    const answers = [
      yield* invited("new@example.org", "owner"),
      yield* tag(members.setRole(admin, id, "viewer")),
      yield* tag(members.remove(admin, id)),
      yield* invited("NEW@example.org", "member"),
      yield* invited("OWNER@example.org", "member"),
      yield* invited("nobody@example.org", "member")
    ]
    t.strictSame(answers, ["RoleTooLow", "RoleTooLow", "RoleTooLow", "none", "AlreadyMember", "none"])
  })

  test(t, "when two owners leave at the same time, then one of them stays", function* (t) {
    yield* added("second@example.org", "owner")
    const owners = Effect.map(members.list(ours), (all) => all.filter(({ role }) => role === "owner"))
    const answers = yield* Effect.forEach(yield* owners, ({ userId }) => tag(members.remove(owner, userId)), { concurrency: 2 })
    t.strictSame([...answers].sort(), ["LastOwner", "none"])
    t.equal((yield* owners).length, 1)
  })

  test(t, "when they belong to another organization, then there is no such member", function* (t) {
    const [member] = yield* members.list(ours)
    const id = member?.userId ?? UserId.make(0)
    const answers = [yield* tag(members.setRole(another, id, "viewer")), yield* tag(members.remove(another, id))]
    t.strictSame(answers, ["MemberNotFound", "MemberNotFound"])
  })

  test(t, "when a user selects another organization, then the same token is for that one, until the user is removed there", function* (t) {
    const { organizationId: own, token, user } = yield* signUp("both@example.org")
    yield* joined(user.email, "member", user.id)
    const stranger = yield* tag(users.select(user.id, theirs))
    yield* users.select(user.id, ours)
    const away = yield* users.authenticate(token)
    const listed = yield* users.organizations(user.id)
    yield* Members.use((_) => _.remove(owner, user.id))
    t.equal(stranger, "OrganizationNotFound")
    t.match(away, { organizationId: ours, role: "member" })
    const memberships = listed.map(({ isSelected, role }) => [role, isSelected])
    t.strictSame(memberships, [
      ["owner", false],
      ["member", true]
    ])
    t.match(yield* users.authenticate(token), { organizationId: own, role: "owner" })
  })
})

t.test("given keys that users created", async (t) => {
  test(t, "when the user's role is lowered, then so are the key's permissions, and a removed user's key is invalid", function* (t) {
    const { token, user } = yield* signUp("maker@example.org")
    yield* joined(user.email, "admin", user.id)
    const { key } = yield* keys.create(yield* users.authenticate(token), { name: "k", role: undefined })
    const authenticate = keys.authenticate(Redacted.value(key))
    const first = yield* authenticate
    yield* members.setRole(owner, user.id, "viewer")
    const sunk = yield* authenticate
    yield* members.remove(owner, user.id)
    t.equal(first.role, "admin")
    t.equal(sunk.role, "viewer")
    t.equal(yield* tag(authenticate), "InvalidApiKey")
  })

  test(t, "when more permissions are requested than the caller has, then that is refused", function* (t) {
    const { made } = yield* keys.create(owner, { name: "owner's", role: "owner" })
    const answers = [
      yield* tag(keys.create(admin, { name: "k", role: "owner" })),
      yield* tag(keys.archive(admin, made.id)),
      yield* tag(keys.archive(another, made.id)),
      yield* tag(keys.archive(owner, made.id)),
      yield* tag(keys.archive(owner, made.id))
    ]
    t.strictSame(answers, ["RoleTooLow", "RoleTooLow", "ApiKeyNotFound", "none", "none"])
  })

  test(t, "when the caller's own key was archived after the request was authenticated, then nothing is granted", function* (t) {
    const late = yield* keyOf()
    const id = late.apiKeyId ?? ApiKeyId.make(0)
    const [member] = yield* members.list(ours)
    yield* keys.archive(owner, id)
    const answers = [
      yield* tag(keys.create(late, { name: "k", role: "viewer" })),
      yield* tag(keys.reactivate(late, id)),
      yield* tag(invitations.invite(late, { email: "late@example.org", role: "viewer", days: 1 })),
      yield* tag(members.setRole(late, member?.userId ?? UserId.make(0), "viewer"))
    ]
    t.strictSame(answers, ["RoleTooLow", "RoleTooLow", "RoleTooLow", "RoleTooLow"])
  })

  test(t, "when one has the name of the operator's key, then a change of the operator's key does not affect it", function* (t) {
    const { key } = yield* keys.create(owner, { name: "bootstrap", role: "viewer" })
    yield* organizations.bootstrap(Redacted.make("operator-key-000001"), 1)
    yield* organizations.bootstrap(Redacted.make("operator-key-000002"), 1)
    const replaced = yield* tag(keys.authenticate("operator-key-000001"))
    const role = [replaced, (yield* keys.authenticate(Redacted.value(key))).role, (yield* keys.authenticate("operator-key-000002")).role]
    t.strictSame(role, ["InvalidApiKey", "viewer", "owner"])
  })
})

test(t, "given a running campaign, when its organization's limit changes, then it is signalled, and no other campaign is", function* (t) {
  yield* makeConfig("default", true)
  const { id } = yield* makeCampaign()
  yield* makeCampaign()
  yield* Campaigns.use((_) => _.start(ours, id))
  heard.length = 0
  yield* settings.setConcurrency({ organizationId: theirs, role: "admin" }, { limit: 1, reserve: 0 })
  const set = yield* settings.setConcurrency({ organizationId: ours, role: "owner", isOperator: true }, { limit: 20, reserve: 5 })
  t.strictSame(set, { limit: 20, reserve: 5 })
  t.strictSame(heard, [`changed ${id}`])
})

t.test("given the audit log", async (t) => {
  test(t, "when entries of several organizations wait, then a reader causes all to be written, and sees their own", function* (t) {
    const record = (organizationId: typeof ours, action: string) =>
      log.record({ caller: { organizationId, role: "owner" }, action, resourceKind: "campaigns", resourceId: "7" })
    for (let at = 0; at < 5; at++) yield* record(ours, `a${at}`)
    yield* record(theirs, "b")
    const mine = yield* Effect.provideService(log.list(ours, { before: undefined, limit: 100 }), CurrentTenant, ours)
    t.strictSame(column(mine, "action"), ["a4", "a3", "a2", "a1", "a0"])
    t.match(mine[0], { userId: null, apiKeyId: null, resourceKind: "campaigns", resourceId: "7" })
    t.strictSame(column(yield* log.list(ours, { before: mine[2]?.id, limit: 2 }), "action"), ["a1", "a0"])
    t.strictSame(column(yield* log.list(theirs, { before: undefined, limit: 100 }), "action"), ["b"])
  })
})
