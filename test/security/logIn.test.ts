/**
 * Log-in could be blocked: 300 wrong passwords waited in an unlimited queue, and the right one got 503 after half a minute; ten guesses by
 * anybody locked the owner out.
 */
import { Clock, Deferred, Effect, Fiber, Layer, Redacted } from "effect"
import { TestClock } from "effect/testing"
import t from "tap"
import { LoginLimit, type Standing } from "#core/organization/LoginLimit.ts"
import { Passwords } from "#core/organization/Passwords.ts"
import { PasswordTurns } from "#core/organization/PasswordTurns.ts"
import { Tokens } from "#core/organization/Tokens.ts"
import { Users } from "#core/organization/Users.ts"
import { tokensOf } from "#runtime/identity/tokens.ts"
import { openApi } from "#test/gateway/apiTest.ts"
import { behindProxy } from "#test/gateway/gatewayTest.ts"
import { untilTrue } from "#test/support/until.ts"
import { run, runLive } from "#test/support/run.ts"
import { install, tag } from "#test/store/services.ts"

const office = "192.0.2.1"
const attacker = "198.51.100.1"

t.test("given turns of which one is taken", async (t) => {
  /** Holds the lane until the work is done. */
  const held = <A>(work: (take: (who: string, standing?: Standing) => Effect.Effect<string>) => Effect.Effect<A>) =>
    runLive(
      Effect.gen(function* () {
        const turns = yield* PasswordTurns
        const log: Array<string> = []
        const [begun, end] = [yield* Deferred.make<void>(), yield* Deferred.make<void>()]
        const hold = Effect.andThen(Deferred.succeed(begun, undefined), Deferred.await(end))
        const first = yield* Effect.forkChild(turns.take({ standing: "noAccount", key: "first" }, hold))
        yield* Deferred.await(begun)
        const note = (who: string) => Effect.sync(() => log.push(who))
        const result = yield* work((who, standing = "noAccount") => tag(turns.take({ standing, key: who }, note(who))))
        yield* Deferred.succeed(end, undefined)
        yield* Fiber.join(first)
        return { log, result }
      }).pipe(Effect.provide(PasswordTurns.layer))
    )
  const started = (effect: Effect.Effect<string>) => Effect.forkDetach(effect, { startImmediately: true })

  t.test("when strangers keep coming, then they get a quarter of the time, and who has logged in before need not wait", async (t) => {
    const log = await run(
      Effect.gen(function* () {
        const turns = yield* PasswordTurns
        const log: Array<string> = []
        const clock = yield* Clock.Clock
        const began = clock.currentTimeMillisUnsafe()
        const check = (who: string, standing: Standing) =>
          turns.take(
            { key: who, standing },
            Effect.delay(
              Effect.sync(() => log.push(`${who} ${clock.currentTimeMillisUnsafe() - began}`)),
              300
            )
          )
        yield* started(tag(check("first", "noAccount")))
        yield* started(tag(check("second", "noAccount")))
        yield* TestClock.adjust(350)
        yield* started(tag(check("friend", "sameAccount")))
        yield* TestClock.adjust(5_000)
        return log
      }).pipe(Effect.provide(PasswordTurns.layer))
    )
    t.strictSame(log, ["first 300", "friend 650", "second 1500"])
  })

  t.test("when more strangers come than there is room for, then they are refused at once", async (t) => {
    const { result } = await held((take) =>
      Effect.gen(function* () {
        for (let at = 0; at < 10; at++) yield* started(take(`stranger ${at}`))
        return yield* Effect.forEach(["one", "two", "three"], (who) => take(who))
      })
    )
    t.strictSame(result, ["PasswordsBusy", "PasswordsBusy", "PasswordsBusy"])
  })

  t.test("when one stranger asks for much at once, then others keep their room", async (t) => {
    const { result } = await held((take) =>
      Effect.gen(function* () {
        for (let at = 0; at < 3; at++) yield* started(take("greedy"))
        const refused = yield* take("greedy")
        const other = yield* started(take("other"))
        return [refused, other.pollUnsafe()]
      })
    )
    t.strictSame(result, ["TooManyAttempts", undefined])
  })

  t.test("when those come who have logged in before, then they go first", async (t) => {
    const { log, result } = await held((take) =>
      Effect.all([started(take("noAccount")), started(take("otherAccount", "otherAccount")), started(take("sameAccount", "sameAccount"))])
    )
    await Effect.runPromise(Effect.forEach(result, Fiber.join))
    t.strictSame(log, ["sameAccount", "otherAccount", "noAccount"])
  })

  t.test("when a waiting one goes away, then the next has its room", async (t) => {
    const { result } = await held((take) =>
      Effect.gen(function* () {
        const fibers = yield* Effect.forEach(Array.from({ length: 10 }), (_, at) => started(take(`stranger ${at}`)))
        yield* Effect.forEach(fibers.slice(0, 1), Fiber.interrupt)
        const late = yield* started(take("late"))
        return [late.pollUnsafe(), yield* take("later")]
      })
    )
    t.strictSame(result, [undefined, "PasswordsBusy"])
  })
})

t.test("given 300 wrong log-ins of strangers, when the owner logs in from a known address, then theirs is checked next", async (t) => {
  const { run } = await install(t)
  const checked: Array<string> = []
  const gate = Deferred.makeUnsafe<void>()
  // Replaces the slow hash, which no test should wait for.
  const passwords = Layer.succeed(Passwords, {
    hash: Effect.succeed,
    verify: (password, hash) =>
      Effect.suspend(() => {
        checked.push(password)
        return password === "first" ? Effect.as(Deferred.await(gate), false) : Effect.succeed(password === hash)
      })
  })
  const users = Users.layer.pipe(
    Layer.provide([passwords, Layer.succeed(Tokens, tokensOf(Redacted.make("the secret of the tokens in these tests")))])
  )
  const result = await run(
    Effect.gen(function* () {
      const { logIn, signUp } = yield* Users
      yield* signUp({ email: "owner@example.org", password: "right horse" }, office)
      const guess = (password: string, at: number) =>
        Effect.forkChild(tag(logIn("owner@example.org", password, `198.51.100.${at % 250}`)), { startImmediately: true })
      yield* guess("first", 0)
      // The checker may still be resting after the sign-up.
      while (checked.length === 0) yield* Effect.sleep("5 millis")
      const fibers = yield* Effect.forEach(Array.from({ length: 299 }), (_, at) => guess("wrong", at + 1))
      yield* Effect.yieldNow
      const refused = fibers.map((fiber) => fiber.pollUnsafe()).filter((exit) => exit !== undefined).length
      const owner = yield* Effect.forkChild(tag(logIn("owner@example.org", "right horse", office)), { startImmediately: true })
      yield* Deferred.succeed(gate, undefined)
      return { refused, owner: yield* Fiber.join(owner), waited: checked.indexOf("right horse") }
    }).pipe(Effect.provide(Layer.fresh(users)))
  )
  t.ok(result.refused >= 250, `${result.refused} heard at once that there is no room`)
  t.strictSame([result.owner, result.waited], ["none", 1])
})

t.test("given an address from which nobody has logged in, when it guesses, then only so often, for one account and for many", async (t) => {
  const play = <A>(work: Effect.Effect<A, never, LoginLimit>) =>
    Effect.runPromise(work.pipe(Effect.provide(LoginLimit.layer), Effect.provide(TestClock.layer())))
  const guesses = (emailOf: (at: number) => string, subscriberOf: (at: number) => string, standing: Standing = "noAccount") =>
    play(
      Effect.gen(function* () {
        const { attempt } = yield* LoginLimit
        const answers = yield* Effect.forEach(Array.from({ length: 200 }), (_, at) =>
          tag(attempt({ email: emailOf(at), subscriber: subscriberOf(at), standing }))
        )
        return answers.filter((answer) => answer === "none").length
      })
    )
  const everywhere: ReadonlyArray<
    readonly [most: number, where: string, emailOf: (at: number) => string, subscriberOf: (at: number) => string, standing?: Standing]
  > = [
    [10, "at one account", () => "a", () => attacker],
    [20, "at many", String, () => attacker],
    [30, "from many addresses at one account", () => "a", String],
    [30, "from the owner's own address", () => "a", () => office, "sameAccount"]
  ]
  for (const [most, where, ...guess] of everywhere) t.equal(await guesses(...guess), most, where)
})

t.test("given the API behind a proxy", async (t) => {
  const api = await openApi(t, Layer.empty, behindProxy)
  const from = (address: string) => (path: string, json: object) =>
    api.ask("POST", path, json, { key: null, headers: { "x-forwarded-for": address } })
  const account = { email: "owner@example.org", password: "correct horse" }
  const wrong = { ...account, password: "wrong horse" }
  t.equal((await from(office)("/auth/signup", account)).status, 200)

  t.test("when somebody guesses, then they have to wait, and are told for how long; the owner can still log in", async (t) => {
    const statuses: Array<number> = []
    for (let at = 0; at < 40; at++) statuses.push((await from(`198.51.100.${at % 4}`)("/auth/login", wrong)).status)
    t.strictSame(new Set(statuses), new Set([401, 429]))
    const refused = await from(attacker)("/auth/login", wrong)
    t.match(refused, { status: 429, json: { detail: "Too many attempts, try again in a few minutes" } })
    t.ok(Number(refused.headers["retry-after"]) > 0)
    t.equal((await from(office)("/auth/login", account)).status, 200)
  })

  t.test("when ten guesses come from the owner's own address, then the owner can still log in", async (t) => {
    for (let at = 0; at < 10; at++) t.equal((await from(office)("/auth/login", wrong)).status, 401)
    t.equal((await from(office)("/auth/login", account)).status, 200)
  })

  t.test("when 300 guess at once, then each is answered, few are checked, and the owner logs in meanwhile", async (t) => {
    const statuses: Array<number> = []
    const guesses = Array.from({ length: 300 }, async (_, at) => {
      statuses.push((await from(`203.0.113.${at % 250}`)("/auth/login", { ...wrong, email: `nobody${at}@example.org` })).status)
    })
    await untilTrue("an answer", () => statuses.length > 0)
    t.equal((await from(office)("/auth/login", account)).status, 200)
    await Promise.all(guesses)
    t.equal(statuses.length, 300)
    t.strictSame(new Set(statuses), new Set([401, 503]))
    const checked = statuses.filter((status) => status === 401).length
    t.ok(checked <= 60, `${checked} were checked`)
  })

  t.test("when an attacker writes the owner's address into the header, then it is ignored", async (t) => {
    const statuses: Array<number> = []
    // On a slow machine the attacker may have been granted new guesses since. As many from the owner's own address would all be answered.
    for (let at = 0; at < 10 && !statuses.includes(429); at++)
      statuses.push((await from(`${office}, ${attacker}`)("/auth/login", wrong)).status)
    t.equal(statuses.at(-1), 429)
  })
})

t.test("given an account that logged in before a restart, when its password is guessed at, then its owner still goes first", async (t) => {
  const { run } = await install(t)
  const answers = await run(function* () {
    yield* Users.use((_) => _.signUp({ email: "owner@example.org", password: "correct horse" }, office))
    const users = Users.layer.pipe(
      Layer.provide([
        Layer.succeed(Passwords, { hash: Effect.succeed, verify: () => Effect.succeed(false) }),
        Layer.succeed(Tokens, tokensOf(Redacted.make("the secret of the tokens in these tests")))
      ])
    )
    return yield* Users.use(({ logIn }) =>
      Effect.forEach(Array.from({ length: 31 }), () => tag(logIn("owner@example.org", "wrong", office)))
    ).pipe(Effect.provide(Layer.fresh(users)))
  })
  t.strictSame(
    answers,
    answers.map((_, at) => (at < 30 ? "LoginRefused" : "TooManyAttempts"))
  )
})
