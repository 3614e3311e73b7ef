/** Recognizers that are opened while the phone rings: when, how often, who gets the session, and when it is closed. */
import { Clock, Effect, Exit, Fiber, Scope } from "effect"
import { TestClock } from "effect/testing"
import { OrganizationId } from "#core/Id.ts"
import { ModelError } from "#core/model/LanguageModel.ts"
import type { RecognizerEvent, RecognizerHints, RecognizerSession, SpeechToText } from "#core/model/SpeechToText.ts"
import { EarlyHearing } from "#runtime/voice/EarlyHearing.ts"
import { makeHearing } from "#runtime/voice/Hearing.ts"
import { story } from "#test/support/story.ts"
import { planOfCall } from "#test/support/voiceScene.ts"

const gone = new ModelError({ reason: "broken", isRetryable: true, message: "gone" })
const refused = new ModelError({ reason: "auth", isRetryable: false, message: "no" })
const full = new ModelError({ reason: "rate_limited", isRetryable: true, message: "too many" })
const hints = (phrase: string): RecognizerHints => ({ language: "en-US", keyterms: [], phrases: [phrase] })
const frame = new Int16Array(160)

interface Scene {
  /** The n-th opening ends like this; all further ones succeed. */
  readonly openings?: ReadonlyArray<Effect.Effect<void, ModelError>>
  /** The service allows no more sessions at once. */
  readonly most?: number
  readonly opensEarly?: false
}

/** A service, as its log shows it, and calls that use it. */
const scene = ({ most = Number.POSITIVE_INFINITY, openings = [], ...more }: Scene = {}) =>
  Clock.clockWith((clock) =>
    Effect.sync(() => {
      const log: Array<string> = []
      const emits = new Map<number, (event: RecognizerEvent) => void>()
      let asked = 0
      const closed = (number: number) =>
        Effect.sync(() => {
          emits.delete(number)
          log.push(`${clock.currentTimeMillisUnsafe()} closed ${number}`)
        })
      const recognizer: SpeechToText = {
        provider: "scripted",
        model: "scripted",
        ownsTurns: false,
        ...more,
        open: Effect.fnUntraced(function* (_, emit) {
          const number = ++asked
          log.push(`${clock.currentTimeMillisUnsafe()} asked ${number}`)
          yield* openings[number - 1] ?? Effect.void
          if (emits.size >= most) return yield* full
          yield* Effect.acquireRelease(
            Effect.sync(() => emits.set(number, emit)),
            () => closed(number)
          )
          log.push(`${clock.currentTimeMillisUnsafe()} open ${number}`)
          const session: RecognizerSession = {
            write: () => log.push(`audio ${number}`),
            finalize: () => {},
            hint: ({ phrases }) => log.push(`hint ${phrases[0]} ${number}`)
          }
          return session
        })
      }
      const early = new EarlyHearing(clock)
      /** A call of an organization. Its phone rings until the fiber is interrupted. */
      const rings = (organization = 1) => {
        const { conversation, ...plan } = planOfCall({ organizationId: OrganizationId.make(organization) })
        const whole = { ...plan, conversation: { ...conversation, hearing: recognizer, hintsAt: () => hints("first") } }
        return Effect.map(Effect.forkScoped(early.hold(whole), { startImmediately: true }), (ringing) => ({ plan: whole, ringing }))
      }
      /** The callee answers: what is heard of them, and of failures. */
      const answers = ({ plan }: Effect.Success<ReturnType<typeof rings>>) =>
        Effect.gen(function* () {
          const heard: Array<RecognizerEvent> = []
          const failures: Array<string> = []
          const hearing = makeHearing(
            [early.recognizerOf(plan) ?? recognizer],
            hints("second"),
            (event) => void heard.push(event),
            (_, { message }) => void failures.push(message)
          )
          const talk = yield* Scope.fork(yield* Effect.scope)
          yield* Scope.provide(Effect.forkScoped(hearing.run, { startImmediately: true }), talk)
          yield* settled
          return { failures, heard, hearing, hangsUp: Scope.close(talk, Exit.void) }
        })
      const fails = (number: number, error = gone) =>
        Effect.andThen(
          Effect.sync(() => emits.get(number)?.({ _tag: "Failed", error })),
          settled
        )
      return { answers, emits, fails, log, rings }
    })
  )

/** Lets everything happen that is due. */
const settled = TestClock.adjust(0)

story("given a handshake of three seconds and a phone that rings for four, then the first word is heard at once", function* (t) {
  const { answers, emits, log, rings } = yield* scene({ openings: [Effect.sleep("3 seconds")] })
  const call = yield* rings()
  yield* TestClock.adjust("4 seconds")
  const { hangsUp, heard, hearing } = yield* answers(call)
  hearing.write(frame)
  emits.get(1)?.({ _tag: "Partial", text: "yes" })
  t.strictSame(heard, [{ _tag: "Partial", text: "yes" }])
  yield* TestClock.adjust("1 minute")
  yield* hangsUp
  yield* settled
  t.strictSame(log, ["0 asked 1", "3000 open 1", "hint second 1", "audio 1", "64000 closed 1"])
  t.not(call.ringing.pollUnsafe(), undefined, "nothing of it is left")
})

story("given an answer during the handshake, then the call waits for that session, and loses no word", function* (t) {
  const { answers, log, rings } = yield* scene({ openings: [Effect.sleep("3 seconds")] })
  const call = yield* rings()
  yield* TestClock.adjust("1 second")
  const { failures, hearing } = yield* answers(call)
  hearing.write(frame, true)
  yield* TestClock.adjust("2 seconds")
  t.strictSame(log, ["0 asked 1", "3000 open 1", "hint second 1", "audio 1"])
  t.strictSame(failures, [])
})

story("given a call that ends unanswered, then its session is closed, also while it is being opened", function* (t) {
  const { log, rings } = yield* scene({ openings: [Effect.void, Effect.sleep("3 seconds")] })
  const [busy, slow] = [yield* rings(), yield* rings()]
  yield* TestClock.adjust("1 second")
  yield* Fiber.interruptAll([busy.ringing, slow.ringing])
  yield* TestClock.adjust("1 minute")
  t.strictSame(log, ["0 asked 1", "0 open 1", "0 asked 2", "1000 closed 1"])
})

story("given a call that is hung up while it waits for the handshake, then its session is closed", function* (t) {
  const { answers, emits, rings } = yield* scene({ openings: [Effect.sleep("3 seconds")] })
  const call = yield* rings()
  const { hangsUp } = yield* answers(call)
  yield* hangsUp
  yield* TestClock.adjust("1 minute")
  t.equal(emits.size, 0)
  t.not(call.ringing.pollUnsafe(), undefined, "nothing of it is left")
})

story("given a recognizer that cannot be opened while the phone rings, then the answered call opens it, without a failure", function* (t) {
  for (const opening of [Effect.fail(gone), Effect.fail(refused), Effect.fail(full), Effect.die("a fault"), Effect.never]) {
    const { answers, log, rings } = yield* scene({ openings: [opening] })
    const call = yield* rings()
    yield* TestClock.adjust("8 seconds")
    const { failures } = yield* answers(call)
    // The answered call waits for no more than what is left of ten seconds.
    yield* TestClock.adjust("3 seconds")
    t.match(log.at(-1), "open 2")
    t.strictSame(failures, [])
  }
})

story(
  "given a phone that rings for a minute, and a service that closes idle sessions, then it is replaced, but not at once",
  function* (t) {
    const { answers, emits, fails, log, rings } = yield* scene()
    const call = yield* rings()
    yield* TestClock.adjust("10 seconds")
    yield* fails(1)
    yield* TestClock.adjust("5 seconds")
    t.strictSame(log, ["0 asked 1", "0 open 1", "10000 closed 1", "15000 asked 2", "15000 open 2"])
    yield* TestClock.adjust("10 seconds")
    yield* fails(2)
    const { failures } = yield* answers(call)
    t.strictSame([...emits.keys()], [3], "a callee who answers meanwhile is heard at once")
    yield* TestClock.adjust("1 minute")
    t.strictSame([...emits.keys()], [3], "by one session")
    t.strictSame(failures, [])
  }
)

story("given a session that was taken over and fails, then it is replaced as any other", function* (t) {
  const { answers, emits, fails, rings } = yield* scene()
  const call = yield* rings()
  const { failures } = yield* answers(call)
  yield* fails(1)
  t.strictSame(failures, ["gone"])
  t.strictSame([...emits.keys()], [2])
})

story("given a service with a limit of sessions, then phones that ring make room for callees who answer", function* (t) {
  const { answers, emits, log, rings } = yield* scene({ most: 2 })
  const [first] = [yield* rings(), yield* rings(), yield* rings(2)]
  t.strictSame([...emits.keys()], [1, 2])
  const other = yield* answers(yield* rings(3))
  t.match(other.failures[0], "too many", "the phones of other organizations are left alone")
  yield* other.hangsUp
  yield* answers(first)
  const { failures } = yield* answers(yield* rings())
  yield* TestClock.adjust("250 millis")
  t.strictSame(failures, [])
  t.strictSame([emits.has(1), emits.has(2), emits.size], [true, false, 2], "the phone that still rings has made room")
  const before = log.length
  yield* rings()
  yield* TestClock.adjust("30 seconds")
  t.equal(log.length, before, "and nothing is opened early for a minute")
  yield* TestClock.adjust("31 seconds")
  yield* rings()
  t.ok(log.length > before)
})

story("given a service that reports its limit to a callee who is connected, then phones that ring make room, too", function* (t) {
  const { answers, emits, fails, rings } = yield* scene()
  const [, call] = [yield* rings(), yield* rings()]
  yield* answers(call)
  yield* fails(2, full)
  t.strictSame([...emits.keys()], [3])
})

story("given a recognizer whose idle sessions cost something, or none, then nothing is opened before the answer", function* (t) {
  const { answers, log, rings } = yield* scene({ opensEarly: false })
  const call = yield* rings()
  yield* TestClock.adjust("4 seconds")
  yield* answers(call)
  t.strictSame(log, ["4000 asked 1", "4000 open 1"])
  yield* new EarlyHearing(yield* Clock.Clock).hold(planOfCall())
})
