/** The recognizers of a call, and their next sessions when one fails: what is written, what is answered, and when they are given up. */
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
/** The results for what is being said when nobody can transcribe it, and for an answer that is owed. */
const lost = unclear(false)
const unanswered = unclear(true)

/** A session as the recognizer sees it. */
interface Session {
  /** Which recognizer's. */
  readonly by: number
  readonly hints: RecognizerHints
  readonly emit: (event: RecognizerEvent) => void
  /** The numbers of the frames, and the other calls to it. */
  readonly told: Array<number | string>
}

type Opening = "opens" | "never" | "dies" | "is refused" | "fails" | "throws at audio" | "throws at finalize"

interface Recognizers {
  /** The n-th session of any recognizer opens as the n-th opening says; all further ones open. */
  readonly openings?: ReadonlyArray<Opening>
  /** Whether each of them owns turns: by default there is one that does not. */
  readonly owns?: readonly [boolean, ...ReadonlyArray<boolean>]
}

const scene = ({ openings = [], owns: [first, ...rest] = [false] }: Recognizers = {}) => {
  const sessions: Array<Session> = []
  const heard: Array<RecognizerEvent> = []
  const recognizer = (ownsTurns: boolean, number: number): SpeechToText => ({
    provider: `scripted ${number}`,
    model: "scripted",
    ownsTurns,
    open: (given, emit) =>
      Effect.suspend(() => {
        const opening = openings[sessions.length] ?? "opens"
        const told: Session["told"] = []
        sessions.push({ by: number, hints: given, emit, told })
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
  })
  const others = rest.map((ownsTurns, index) => recognizer(ownsTurns, index + 2))
  const hearing = makeHearing([recognizer(first, 1), ...others], hints("first"), (event) => void heard.push(event))
  const last = () => sessions.at(-1) ?? { by: 0, hints: hints("none"), emit: () => {}, told: [] }
  return { hearing, heard, sessions, last, fails: () => last().emit({ _tag: "Failed", error: gone }) }
}

/** Lets everything happen that is due. */
const settled = TestClock.adjust(0)
/** A scene whose first session has been requested. */
const begun = Effect.fnUntraced(function* (given: Recognizers = {}) {
  const world = scene(given)
  yield* Effect.forkScoped(world.hearing.run, { startImmediately: true })
  yield* settled
  return world
})

story("given a session, then it is told everything in order, and its results arrive", function* (t) {
  const { heard, hearing, last } = yield* begun()
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

story("given no session yet, then it gets the last ten seconds, and is asked where it was to be asked", function* (t) {
  const { hearing, heard, last } = scene()
  // The frame belongs to the line, which reuses it.
  const shared = frame(0)
  for (let number = 1; number <= 502; number++) {
    hearing.write(shared.fill(number))
    if (number === 500) hearing.finalize()
  }
  hearing.hint(hints("second"))
  hearing.finalize()
  t.equal(hearing.seconds(), 0)
  yield* Effect.forkScoped(hearing.run, { startImmediately: true })
  yield* settled
  const kept = Array.from({ length: 500 }, (_, index) => index + 3)
  t.strictSame(last().told, [...kept.slice(0, 498), "finalize", 501, 502, "finalize"])
  t.strictSame(last().hints.phrases, ["second"])
  t.equal(hearing.seconds(), 10)
  t.strictSame(heard, [])
})

story("given nobody who speaks, then only the last second is kept", function* (t) {
  const { hearing, last } = scene()
  for (let number = 1; number <= 300; number++) hearing.write(frame(number), false)
  hearing.write(frame(301), true)
  yield* Effect.forkScoped(hearing.run, { startImmediately: true })
  yield* settled
  t.strictSame([last().told[0], last().told.slice(-2)], [251, [301, "speech"]])
})

story("given a session that fails, then the next one is given what has not been transcribed, and nothing is lost", function* (t) {
  const { fails, heard, hearing, last, sessions } = yield* begun()
  const [first] = sessions
  hearing.write(frame(1))
  hearing.finalize()
  last().emit(final("one", true))
  hearing.write(frame(2), true)
  hearing.finalize()
  hearing.write(frame(3), false)
  fails()
  yield* settled
  t.strictSame([sessions.length, last().told], [2, [2, "speech", "finalize", 3]], "at once")
  first?.emit(final("late", true))
  last().emit(final("two", true))
  hearing.finalize()
  last().emit(final("", true))
  t.strictSame(heard, [final("one", true), final("two", true), final("", true)], "a session that is over is not heard")
})

story("given an answer that is still owed after four seconds, then the next session is not asked for it", function* (t) {
  const { fails, heard, hearing, last } = yield* begun()
  hearing.write(frame(1), true)
  hearing.finalize()
  for (let number = 2; number <= 201; number++) hearing.write(frame(number), number > 160)
  hearing.finalize()
  fails()
  yield* settled
  t.strictSame([heard, last().told.includes(1), last().told.at(-1)], [[unanswered], false, "finalize"], "only for what was said after it")
})

story("given a text of its own accord, then what it covers is not transcribed again", function* (t) {
  const { fails, hearing, last } = yield* begun({ owns: [true] })
  hearing.write(frame(1))
  last().emit(final("one", false))
  hearing.write(frame(2))
  last().emit({ _tag: "EndDeclared", text: "one two" })
  hearing.write(frame(3))
  fails()
  yield* settled
  t.strictSame(last().told, [3])
})

story("given a recognizer that fails twice in a row, then the next one takes over with all that was said", function* (t) {
  const { fails, heard, hearing, last, sessions } = yield* begun({ owns: [false, false] })
  hearing.write(frame(1), true)
  hearing.finalize()
  fails()
  yield* settled
  fails()
  yield* settled
  t.strictSame(
    [sessions.map(({ by }) => by), last().told],
    [
      [1, 1, 2],
      [1, "speech", "finalize"]
    ]
  )
  last().emit(final("yes", true))
  t.strictSame(heard, [final("yes", true)])
})

story("given a recognizer with a wrong key, then the next one takes over at once", function* (t) {
  const { sessions } = yield* begun({ openings: ["is refused"], owns: [false, false] })
  t.strictSame(
    sessions.map(({ by }) => by),
    [1, 2]
  )
})

story("given one that owned turns, when one that does not takes over, then it is asked for what was being said", function* (t) {
  const { hearing, last } = scene({ openings: ["is refused"], owns: [true, false] })
  hearing.write(frame(1), true)
  t.equal(hearing.manner().ownsTurns, true)
  yield* Effect.forkScoped(hearing.run, { startImmediately: true })
  yield* settled
  t.strictSame([last().told, hearing.manner().ownsTurns], [[1, "speech", "finalize"], false])
})

story(
  "given audio that each session fails on, then it counts as not understood, and the next session gets only what follows",
  function* (t) {
    const { fails, heard, hearing, last, sessions } = yield* begun()
    hearing.write(frame(1), true)
    hearing.finalize()
    for (const millis of [0, 250, 500]) {
      fails()
      yield* TestClock.adjust(millis)
    }
    t.strictSame([heard, last().told, sessions.length], [[lost, unanswered], [], 4])
  }
)

story("given more than is kept before there is a session, when the rest contains nothing, then it counts as not understood", function* (t) {
  const { hearing, heard, last } = scene()
  for (let number = 1; number <= 501; number++) hearing.write(frame(number))
  hearing.finalize()
  yield* Effect.forkScoped(hearing.run, { startImmediately: true })
  yield* settled
  last().emit(final("", true))
  hearing.finalize()
  last().emit(final("", true))
  t.strictSame(heard, [unanswered, final("", true)], "and what follows is as the session says")
})

story("given a session that is not replaced yet, then what is said is kept for the next, and not written to the former one", function* (t) {
  const { hearing, last, sessions } = yield* begun({ openings: ["opens", "fails", "fails"] })
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
  const { heard, hearing, last } = yield* begun()
  last().emit(final("unasked", true))
  hearing.finalize()
  last().emit({ _tag: "Failed", error: gone })
  yield* settled
  t.strictSame([heard, last().told], [[final("unasked", true)], ["finalize"]])
})

story("given what is said while a session does not open, then the next one gets it", function* (t) {
  const { heard, hearing, last, sessions } = yield* begun({ openings: ["never"] })
  hearing.write(frame(1))
  hearing.finalize()
  yield* TestClock.adjust("9900 millis")
  t.strictSame([sessions.length, heard], [1, []])
  yield* TestClock.adjust("100 millis")
  t.strictSame([sessions.length, heard, last().told], [2, [], [1, "finalize"]])
})

t.test("given a session that throws, then another takes its place, and the line continues", async (t) => {
  const replaced = (opening: Opening) =>
    run(function* () {
      const { heard, hearing, last, sessions } = yield* begun({ openings: [opening] })
      hearing.write(frame(1))
      yield* settled
      hearing.finalize()
      yield* settled
      hearing.write(frame(2))
      return { sessions: sessions.length, heard, told: last().told }
    })
  t.strictSame(await replaced("dies"), { sessions: 2, heard: [], told: [1, "finalize", 2] })
  t.strictSame(await replaced("throws at audio"), { sessions: 2, heard: [], told: [1, "finalize", 2] })
  t.strictSame(await replaced("throws at finalize"), { sessions: 2, heard: [], told: [1, "finalize", 2] })
})

story("given sessions that fail one after the other, then each waits longer, and the fifth is the last", function* (t) {
  const { heard, hearing, sessions } = yield* begun({ openings: ["fails", "fails", "fails", "fails", "fails"] })
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
  t.strictSame([heard, hearing.seconds()], [[unanswered], 0], "nobody hears, and nobody waits")
})

t.test("given a session that understands something, then earlier failures no longer count", async (t) => {
  const lasting = (text: string) =>
    run(function* () {
      const { last, sessions } = yield* begun({ openings: ["fails", "fails", "fails", "opens"] })
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
  const { hearing, heard, sessions } = scene({ openings: ["is refused"] })
  hearing.finalize()
  const running = yield* Effect.forkChild(hearing.run)
  yield* Fiber.join(running)
  t.strictSame([sessions.length, heard], [1, [unanswered]])
})

story("given a call that is over, then its session is closed, and not replaced", function* (t) {
  const { hearing, heard, last, sessions } = scene()
  const scope = yield* Scope.make()
  yield* Effect.forkIn(hearing.run, scope, { startImmediately: true })
  yield* settled
  yield* Scope.close(scope, Exit.void)
  last().emit(final("late", true))
  last().emit({ _tag: "Failed", error: gone })
  yield* TestClock.adjust("1 minute")
  t.strictSame([sessions.length, heard], [1, []])
})
