/** Whose turn it is: how soon the agent answers, what it does not mistake for an end, and what it never does before it is sure. */
import { Effect } from "effect"
import fc from "fast-check"
import t from "tap"
import type { Expectation } from "#core/model/EndOfTurn.ts"
import { endOfTurnRules } from "#core/voice/EndOfTurnRules.ts"
import { deadlineOf, delayOf, initialTurn, nextTurn, type TurnCommand, type TurnEvent, type TurnState } from "#core/voice/Turn.ts"
import { forAllOf } from "#test/support/forAll.ts"

const anything: Expectation = { _tag: "Anything" }
const silence = { audio: new Int16Array(0), isAnswer: false, language: "en" }

interface Done {
  readonly at: number
  readonly command: TurnCommand
}

interface Given {
  readonly expects?: Expectation
  readonly ownsTurns?: boolean
  readonly turnEndMillis?: number
  /** Unless set, each pause is judged at once, by the rules. */
  readonly judge?: { readonly afterMillis: number; readonly probabilityOf: (text: string) => number }
}

/** One call in which time passes by itself: deadlines are met, and pauses are judged. */
const makeCall = ({ expects = anything, judge, ownsTurns = false, turnEndMillis }: Given = {}) => {
  const judgments: Array<TurnEvent> = []
  let state: TurnState = initialTurn
  const done: Array<Done> = []
  const tell = (event: TurnEvent): void => {
    const step = nextTurn(state, event, { ownsTurns, turnEndMillis })
    state = step.state
    for (const command of step.commands) done.push({ at: event.at, command })
    for (const command of step.commands) {
      if (command._tag !== "Judge") continue
      const { revision, text } = command
      if (judge !== undefined) {
        judgments.push({ _tag: "Judged", at: event.at + judge.afterMillis, revision, probability: judge.probabilityOf(text) })
        continue
      }
      const probability = Effect.runSync(endOfTurnRules.probability({ ...silence, expects, text }))
      tell({ _tag: "Judged", at: event.at, revision, probability })
    }
  }
  const passUntil = (at: number): void => {
    for (;;) {
      const [judged] = judgments
      const deadline = deadlineOf(state, { ownsTurns, turnEndMillis }) ?? Number.POSITIVE_INFINITY
      if (judged !== undefined && judged.at <= deadline && judged.at < at) {
        judgments.shift()
        tell(judged)
      } else if (deadline < at) tell({ _tag: "Passed", at: deadline })
      else return
    }
  }
  return {
    done,
    state: () => state,
    passUntil,
    tell: (event: TurnEvent) => {
      passUntil(event.at)
      tell(event)
    }
  }
}

/**
 * What is done in a call in which these things happen, each at a time in milliseconds and separated by `|`: `voice`, `pause` (reported 100 ms
 * later), `text ...`, `final ...`, `forced ...`, `whole ...` (which replaces the final text before it),
 * `unclear`, and what a recognizer that owns turns reports: `foreseen ...`, `revoked`, `declared ...`.
 */
const doneIn = (script: string, options: Given = {}): ReadonlyArray<string> => {
  const call = makeCall(options)
  const heard = (at: number, text: string, isFinal: boolean, isForced: boolean): TurnEvent => ({
    _tag: "Transcribed",
    at,
    text,
    isFinal,
    isForced
  })
  const events: Readonly<Record<string, (at: number, text: string) => TurnEvent>> = {
    voice: (at) => ({ _tag: "VoiceStarted", at }),
    pause: (at) => ({ _tag: "VoicePaused", at: at + 100, since: at }),
    text: (at, text) => heard(at, text, false, false),
    final: (at, text) => heard(at, text, true, false),
    forced: (at, text) => heard(at, text, true, true),
    whole: (at, text) => ({ _tag: "Transcribed", at, text, isFinal: true, isForced: true, replaces: true }),
    unclear: (at) => ({ _tag: "Transcribed", at, text: "", isFinal: true, isForced: true, isUnclear: true }),
    foreseen: (at, text) => ({ _tag: "EndForeseen", at, text }),
    revoked: (at) => ({ _tag: "EndRevoked", at }),
    declared: (at, text) => ({ _tag: "EndDeclared", at, text })
  }
  for (const one of script.split(" | ")) {
    const [at, name = "", ...words] = one.split(" ")
    const event = events[name]?.(Number(at), words.join(" "))
    if (event !== undefined) call.tell(event)
  }
  call.passUntil(Number.POSITIVE_INFINITY)
  return call.done
    .filter(({ command }) => command._tag !== "Judge")
    .map(({ at, command }) => {
      const text = "text" in command ? ` ${command.text}` : ""
      const isForeseen = command._tag === "Commit" && command.isForeseen ? ", foreseen" : ""
      return `${at} ${command._tag}${text}${isForeseen}`
    })
}

t.test("given an answer, when the callee pauses after it, then the agent waits for as long as it may go on", async (t) => {
  const check = (text: string, millis: number, expects: Expectation = anything) => {
    const commits = doneIn(`0 voice | 1000 pause | 1150 forced ${text}`, { expects }).filter((line) => line.includes("Commit"))
    t.equal(commits.length, 1, text)
    t.equal(Number.parseInt(commits[0] ?? "", 10) - 1000, millis, text)
    t.match(commits[0], text)
  }
  check("Yes, that is right.", 200)
  check("tomorrow at noon", 560)
  check("I would like to", 1333)
  check("well, um", 1333)
  check("on Tuesday, and", 1333)
  const digits: Expectation = { _tag: "Digits", least: 6, most: 10 }
  check("five five one nine", 1333, digits)
  check("five five one nine two two", 1016, digits)
  check("double five 19 22 0 3 oh oh", 200, digits)
  check("I do not know.", 200, digits)
  check("A N N A at", 1333, { _tag: "Spelling" })
})

t.test(
  "given a pause within a word, when the whole is understood, then it takes the place of the text before it, and of no other",
  async (t) => {
    const committed = (script: string) => doneIn(script).filter((line) => line.includes("Commit"))
    t.strictSame(committed("0 voice | 500 pause | 650 forced third | 660 voice | 1000 pause | 1150 whole Thursday."), [
      "1200 Commit Thursday., foreseen"
    ])
    const before = "0 voice | 500 pause | 650 forced tomorrow | 1000 voice | 1400 pause"
    t.match(committed(`${before} | 1550 forced third | 1560 voice | 1900 pause | 2050 whole Thursday.`), [/Commit tomorrow Thursday.,/])
    t.match(
      committed(`${before} | 1550 forced third | 1560 voice | 1900 pause | 2050 unclear`),
      [/Commit tomorrow third/],
      "what is unclear replaces nothing"
    )
    t.match(committed(`${before} | 1500 voice | 1550 forced third | 1900 pause | 2000 text Thurs | 2050 whole Thursday.`), [
      /Commit tomorrow Thursday.,/
    ])
  }
)

t.test("given a callee who goes on, when it was answered too early, then nothing is spoken, and nothing of it is lost", async (t) => {
  t.strictSame(doneIn("0 voice | 1000 pause | 1150 forced tomorrow | 1400 voice | 2000 pause | 2150 forced or on Friday."), [
    "1100 Finalize",
    "1150 Speculate tomorrow",
    "1400 CancelSpeculation",
    "2100 Finalize",
    "2150 Speculate tomorrow or on Friday.",
    "2200 Commit tomorrow or on Friday., foreseen"
  ])
})

/** Like `doneIn`, without what is only prepared. */
const commitsIn = (script: Parameters<typeof doneIn>[0]) =>
  doneIn(script).flatMap((line) => (/Speculat|Finalize/.test(line) ? [] : [line.replace(", foreseen", "")]))

t.test("given a recognizer, when it is late, wrong or silent, then the turn still ends, once, with all that was understood", async (t) => {
  const check = (name: string, script: string, expected: ReadonlyArray<string>) => t.strictSame(commitsIn(script), expected, name)
  check("late", "0 voice | 1000 pause | 1900 forced Yes.", ["1900 Commit Yes."])
  check("silent, after a word", "0 voice | 500 text yes | 1000 pause", ["4000 Commit yes"])
  check("silent from the beginning", "0 voice | 1000 pause", ["6000 Commit (not understood)"])
  check("it is still empty", "0 voice | 1000 pause | 1110 text | 1150 forced Yes.", ["1200 Commit Yes."])
  check("there was nothing to understand", "0 voice | 300 pause | 450 forced", ["450 Abandon"])
  check("it had taken noise for a word", "0 voice | 200 text a | 300 pause | 450 forced", ["450 Abandon"])
  check("it could not tell what was said", "0 voice | 300 pause | 450 unclear", ["1633.3333333333333 Commit (not understood)"])
  check(
    "it could not tell what was said before all of it was said",
    "0 voice | 300 pause | 450 unclear | 800 voice | 1100 pause | 1250 forced yes please.",
    ["1300 Commit yes please."]
  )
  check("it could not tell what nobody was heard to say", "450 unclear", [])
  check("it corrects itself", "0 voice | 500 text yeah | 1000 pause | 1110 text yes | 1150 forced No.", ["1200 Commit No."])
  check("the voice was too faint to be noticed", "1000 final Yes.", ["1200 Commit Yes."])
  check(
    "an answer that comes after the end is not heard as another turn",
    "0 voice | 500 text yes | 1000 pause | 4500 final yes | 4600 forced | 5000 voice | 6000 pause | 6150 forced No.",
    ["4000 Commit yes", "6200 Commit No."]
  )
  check(
    "nor as part of the next one",
    "0 voice | 500 text yes | 1000 pause | 4200 voice | 4500 forced yes | 5000 pause | 5150 forced No.",
    ["4000 Commit yes", "5200 Commit No."]
  )
  check(
    "one that never comes makes nobody deaf",
    "0 voice | 500 text yes | 1000 pause | 7000 voice | 7500 final No. | 8000 pause | 8150 forced",
    ["4000 Commit yes", "8200 Commit No."]
  )
})

t.test("given an open answer, when more of it is understood late in the pause, then the turn is not over, however it sounds", async (t) => {
  const probabilityOf = (text: string) => (text.endsWith(".") ? 0.95 : 0.1)
  for (const afterMillis of [1, 50])
    for (const rest of ["maybe on", "on tuesday."]) {
      const more = `1900 text ${rest} | 1960 voice | 2500 pause | 2650 forced ${rest}`
      const done = doneIn(`10 voice | 1000 pause | 1150 forced on monday or | ${more}`, { judge: { afterMillis, probabilityOf } })
      const commits = done.flatMap((line) => /Commit (.*?)(?:, foreseen)?$/.exec(line)?.[1] ?? [])
      t.strictSame(commits, [`on monday or ${rest}`], `${rest} ${afterMillis}`)
    }
})

t.test("given a recognizer that owns turns, when it declares their ends, then it is obeyed, and watched", async (t) => {
  const check = (name: string, script: string, expected: ReadonlyArray<string>) =>
    t.strictSame(doneIn(script, { ownsTurns: true }), expected, name)
  check("foreseen and declared", "0 voice | 900 foreseen yes please | 1000 pause | 1200 declared yes please", [
    "900 Speculate yes please",
    "1200 Commit yes please, foreseen"
  ])
  check("revoked", "0 voice | 900 foreseen yes | 1000 revoked | 2000 declared yes but later", [
    "900 Speculate yes",
    "1000 CancelSpeculation",
    "2000 Commit yes but later"
  ])
  check("never declared", "0 voice | 500 text yes | 1000 pause", ["2500 Commit yes"])
  const slow = doneIn("0 voice | 500 text yes | 1000 pause | 3500 declared yes please", { ownsTurns: true, turnEndMillis: 3000 })
  t.strictSame(slow, ["3500 Commit yes please"], "one that says how long it may take has that long")
  check("declared too late", "0 voice | 500 text yes | 1000 pause | 3000 declared yes", ["2500 Commit yes"])
})

t.test("given a long turn or many pauses, when answers are prepared in advance, then only a limited number", async (t) => {
  const pauses = [0, 600, 1200, 1800, 2400].map((at) => `${at} voice | ${at + 300} pause | ${at + 450} forced word${at}`)
  t.equal(doneIn(pauses.join(" | ")).filter((line) => line.includes("Speculate ")).length, 3)
  t.strictSame(doneIn("0 voice | 10001 pause | 10150 forced Done."), ["10101 Finalize", "10201 Commit Done."])
})

t.test("the more complete an answer is, the sooner it is taken for one, within the bounds", async (t) => {
  const probabilities = Array.from({ length: 101 }, (_, index) => index / 100)
  const delays = probabilities.map(delayOf)
  t.ok(delays.every((delay, index) => index === 0 || delay <= (delays[index - 1] ?? 0)))
  t.strictSame(
    [delayOf(0), delayOf(0.29) > 1000, delayOf(0.3), delayOf(0.79) >= 500, delayOf(0.8), delayOf(1)],
    [1500, true, 600, true, 200, 200]
  )
})

/** A callee: how long each stretch of speech and each pause lasts, and how late the recognizer is. */
const stretches = fc.array(
  fc.record({
    voice: fc.integer({ min: 60, max: 6000 }),
    pause: fc.integer({ min: 120, max: 7000 }),
    late: fc.integer({ min: 0, max: 2500 })
  }),
  { minLength: 1, maxLength: 12, size: "max" }
)

t.test("whoever speaks, pauses and is understood late, each word is committed once, in order, and never while he speaks", async () => {
  forAllOf({ numRuns: 1000 }, stretches, fc.boolean(), (all, isIncomplete) => {
    const call = makeCall()
    const events: Array<TurnEvent> = []
    const voiced: Array<readonly [number, number]> = []
    let at = 0
    let toldAt = 0
    for (const [index, { late, pause, voice }] of all.entries()) {
      const since = at + voice
      voiced.push([at, since])
      // Results come in order.
      toldAt = Math.max(toldAt, since + 100 + late)
      events.push({ _tag: "VoiceStarted", at }, { _tag: "VoicePaused", at: since + 100, since })
      events.push({
        _tag: "Transcribed",
        at: toldAt,
        text: `word${index}${isIncomplete ? " and" : "."}`,
        isFinal: true,
        isForced: true
      })
      at = since + pause
    }
    for (const event of events.toSorted((one, other) => one.at - other.at)) call.tell(event)
    call.passUntil(Number.POSITIVE_INFINITY)
    const commits = call.done.flatMap(({ at, command }) => (command._tag === "Commit" ? [{ at, ...command }] : []))
    const words = commits.flatMap(({ text }) => text.match(/word\d+/g) ?? [])
    const speaks = (when: number) => voiced.some(([from, until]) => when > from && when < until)
    const isInTime = commits.every(({ at, until }) => at >= until + 200 && at <= until + 5000)
    const isSaidOnce = words.join() === all.map((_, index) => `word${index}`).join()
    let speculations = 0
    const isBounded = call.done.every(({ command }) => {
      speculations = command._tag === "Speculate" ? speculations + 1 : command._tag === "Commit" ? 0 : speculations
      return speculations <= 3
    })
    return isInTime && isSaidOnce && isBounded && commits.every(({ at }) => !speaks(at)) && call.state()._tag === "Idle"
  })
})
