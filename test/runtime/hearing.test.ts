/** The recognizer of a call, and its next session when one fails: what is written, what is answered, and when it is given up. */
import { Effect, Exit, Fiber, Scope } from "effect"
import { TestClock } from "effect/testing"
import t from "tap"
import { frameSize } from "#core/audio/Mulaw.ts"
import { ModelError } from "#core/model/LanguageModel.ts"
import type { RecognizerEvent, RecognizerHints, RecognizerSession, SpeechToText } from "#core/model/SpeechToText.ts"
import { makeHearing } from "#runtime/voice/Hearing.ts"
import { run } from "#test/support/run.ts"
import { story } from "#test/support/story.ts"

const gone = new ModelError({ reason: "broken", isRetryable: true, message: "gone" })
const refused = new ModelError({ reason: "auth", isRetryable: false, message: "no" })
const hints = (phrase: string): RecognizerHints => ({ language: "en-US", keyterms: [], phrases: [phrase] })
const frame = (number: number) => new Int16Array(frameSize).fill(number)
const final = (text: string, isForced: boolean): Extract<RecognizerEvent, { readonly _tag: "Final" }> => ({
  _tag: "Final",
  text,
  fromMillis: 0,
  untilMillis: 0,
  isForced,
  isAnswer: false,
  confidence: undefined
})
const unclear = (isForced: boolean): RecognizerEvent => ({ ...final("", isForced), isUnclear: true })
/** The results for what is being said when a session fails, and for an answer that it owes. */
const lost = unclear(false)
const unanswered = unclear(true)

/** A session as the recognizer sees it. */
interface Session {
  readonly hints: RecognizerHints
  readonly emit: (event: RecognizerEvent) => void
  /** The numbers of the frames, and the other calls to it. */
  readonly told: Array<number | string>
}

type Opening = "opens" | "never" | "dies" | "is refused" | "fails" | "throws at audio" | "throws at finalize"

/** The n-th session opens as the n-th opening says; all further ones open. */
const scene = (...openings: ReadonlyArray<Opening>) => {
  const sessions: Array<Session> = []
  const heard: Array<RecognizerEvent> = []
  const recognizer: SpeechToText = {
    provider: "scripted",
    model: "scripted",
    ownsTurns: false,
    open: (given, emit) =>
      Effect.suspend(() => {
        const opening = openings[sessions.length] ?? "opens"
        const told: Session["told"] = []
        sessions.push({ hints: given, emit, told })
        if (opening === "never") return Effect.never
        if (opening === "dies") return Effect.die(new Error("a fault"))
        if (opening === "is refused") return Effect.fail(refused)
        if (opening === "fails") return Effect.fail(gone)
        const unless = (fault: Opening, act: () => void) => () => {
          if (opening === fault) throw new Error("a fault")
          act()
        }
        return Effect.succeed<RecognizerSession>({
          write: (samples, isSpeech) =>
            unless("throws at audio", () => void told.push(samples[0] ?? -1, ...(isSpeech === true ? ["speech"] : [])))(),
          finalize: unless("throws at finalize", () => void told.push("finalize")),
          hint: ({ phrases }) => void told.push(`hint ${phrases[0]}`)
        })
      })
  }
  const hearing = makeHearing(recognizer, hints("first"), (event) => void heard.push(event))
  return { hearing, heard, sessions, last: () => sessions.at(-1) ?? { hints: hints("none"), emit: () => {}, told: [] } }
}

/** Lets everything happen that is due. */
const settled = TestClock.adjust(0)
/** A scene whose first session has been requested. */
const begun = Effect.fnUntraced(function* (...openings: ReadonlyArray<Opening>) {
  const world = scene(...openings)
  yield* Effect.forkScoped(world.hearing.run, { startImmediately: true })
  yield* settled
  return world
})

story("given a session, then it is told everything in order, and its results arrive", function* (t) {
  const { heard, hearing, last } = yield* begun("opens")
  hearing.write(frame(1))
  hearing.hint(hints("second"))
  hearing.write(frame(2), true)
  hearing.finalize()
  t.strictSame([last().hints.phrases, last().told], [["first"], [1, "hint second", 2, "speech", "finalize"]])
  t.equal(hearing.seconds(), 0.04)
  last().emit({ _tag: "Partial", text: "ye" })
  last().emit(final("yes", true))
  t.strictSame(heard, [{ _tag: "Partial", text: "ye" }, final("yes", true)])
})

story("given no session yet, then it gets the last two seconds, and the pending requests", function* (t) {
  const { hearing, heard, last } = scene("opens")
  // The frame belongs to the line, which reuses it.
  const shared = frame(0)
  for (let number = 1; number <= 102; number++) hearing.write(shared.fill(number))
  hearing.hint(hints("second"))
  hearing.finalize()
  hearing.finalize()
  t.equal(hearing.seconds(), 0)
  yield* Effect.forkScoped(hearing.run, { startImmediately: true })
  yield* settled
  t.strictSame(last().told, [...Array.from({ length: 100 }, (_, index) => index + 3), "finalize", "finalize"])
  t.strictSame(last().hints.phrases, ["second"])
  t.equal(hearing.seconds(), 2)
  t.strictSame(heard, [])
})

story("given a session that fails, then what it owes counts as not understood, and the next session gets only what follows", function* (t) {
  const { heard, hearing, last, sessions } = yield* begun("opens")
  for (let number = 1; number <= 3; number++) hearing.finalize()
  last().emit(final("of its own accord", false))
  last().emit(final("one", true))
  const [first] = sessions
  first?.emit({ _tag: "Failed", error: gone })
  yield* settled
  t.strictSame(heard.slice(2), [lost, unanswered, unanswered], "one was answered, and a text of its own accord answers none")
  t.equal(sessions.length, 2, "the first is replaced at once")
  t.strictSame(last().told, [], "nothing is owed any more")
  first?.emit(final("late", true))
  t.equal(heard.length, 5, "a session that is over is not heard")
  hearing.write(frame(7))
  t.strictSame(last().told, [7])
})

story("given more than is kept before there is a session, when the rest contains nothing, then it counts as not understood", function* (t) {
  const { hearing, heard, last } = scene("opens")
  for (let number = 1; number <= 101; number++) hearing.write(frame(number))
  hearing.finalize()
  yield* Effect.forkScoped(hearing.run, { startImmediately: true })
  yield* settled
  last().emit(final("", true))
  hearing.finalize()
  last().emit(final("", true))
  t.strictSame(heard, [unanswered, final("", true)], "and what follows is as the session says")
})

story("given a session that is not replaced yet, then what is said is kept for the next, and not written to the former one", function* (t) {
  const { hearing, last, sessions } = yield* begun("opens", "fails", "fails")
  const [first] = sessions
  last().emit({ _tag: "Failed", error: gone })
  yield* settled
  yield* TestClock.adjust("250 millis")
  t.equal(sessions.length, 3)
  hearing.write(frame(7))
  yield* TestClock.adjust("500 millis")
  t.strictSame([first?.told, last().told], [[], [7]])
})

story("given an answer that nobody asked for, then the next question is still answered", function* (t) {
  const { heard, hearing, last } = yield* begun("opens")
  last().emit(final("unasked", true))
  hearing.finalize()
  last().emit({ _tag: "Failed", error: gone })
  yield* settled
  t.strictSame(heard, [final("unasked", true), lost, unanswered])
})

story("given what is said while a session fails to open, then it counts as not understood, and is not kept for another", function* (t) {
  const { heard, hearing, last, sessions } = yield* begun("never")
  hearing.write(frame(1))
  hearing.finalize()
  yield* TestClock.adjust("9900 millis")
  t.strictSame([sessions.length, heard], [1, []])
  yield* TestClock.adjust("100 millis")
  t.strictSame([sessions.length, heard, last().told], [2, [lost, unanswered], []])
})

t.test("given a session that throws, then another takes its place, and the line continues", async (t) => {
  const replaced = (opening: Opening) =>
    run(function* () {
      const { heard, hearing, last, sessions } = yield* begun(opening)
      hearing.write(frame(1))
      yield* settled
      hearing.finalize()
      yield* settled
      hearing.write(frame(2))
      return { sessions: sessions.length, heard, told: last().told }
    })
  t.strictSame(await replaced("dies"), { sessions: 2, heard: [lost], told: [1, "finalize", 2] })
  t.strictSame(await replaced("throws at audio"), { sessions: 2, heard: [lost], told: ["finalize", 2] })
  t.strictSame(await replaced("throws at finalize"), { sessions: 2, heard: [lost, unanswered], told: [2] })
})

story("given sessions that fail one after the other, then each waits longer, and the fifth is the last", function* (t) {
  const { heard, hearing, sessions } = yield* begun("fails", "fails", "fails", "fails", "fails")
  const opened: Array<number> = [sessions.length]
  for (const pause of [249, 1, 499, 1, 749, 1]) {
    yield* TestClock.adjust(pause)
    opened.push(sessions.length)
  }
  t.strictSame(opened, [2, 2, 3, 3, 4, 4, 5])
  yield* TestClock.adjust("1 hour")
  t.equal(sessions.length, 5)
  hearing.write(frame(1))
  hearing.finalize()
  t.strictSame([heard.slice(5), hearing.seconds()], [[unanswered], 0], "nobody hears, and nobody waits")
})

t.test("given a session that understands something, then earlier failures no longer count", async (t) => {
  const lasting = (text: string) =>
    run(function* () {
      const { last, sessions } = yield* begun("fails", "fails", "fails", "opens")
      yield* TestClock.adjust("10 seconds")
      last().emit(final(text, false))
      for (let failure = 0; failure < 3; failure++) {
        last().emit({ _tag: "Failed", error: gone })
        yield* TestClock.adjust("10 seconds")
      }
      return sessions.length
    })
  t.equal(await lasting("yes"), 7)
  t.equal(await lasting(""), 5, "but silence is understood by everybody")
})

story("given a recognizer that cannot be used at all, then it is not tried again", function* (t) {
  const { hearing, heard, sessions } = scene("is refused")
  hearing.finalize()
  const running = yield* Effect.forkChild(hearing.run)
  yield* Fiber.join(running)
  t.strictSame([sessions.length, heard], [1, [lost, unanswered]])
})

story("given a call that is over, then its session is closed, and not replaced", function* (t) {
  const { hearing, heard, last, sessions } = scene("opens")
  const scope = yield* Scope.make()
  yield* Effect.forkIn(hearing.run, scope, { startImmediately: true })
  yield* settled
  yield* Scope.close(scope, Exit.void)
  last().emit(final("late", true))
  last().emit({ _tag: "Failed", error: gone })
  yield* TestClock.adjust("1 minute")
  t.strictSame([sessions.length, heard], [1, []])
})
