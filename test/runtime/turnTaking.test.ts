/** A conversation on the line: real audio in both directions, a recognizer that is told what was said, and what each side hears of the other. */
import { Effect, Scope } from "effect"
import t from "tap"
import { encode } from "#core/audio/Mulaw.ts"
import type { Pause } from "#core/model/EndOfTurn.ts"
import type { BargeInRules } from "#core/voice/BargeIn.ts"
import { endOfTurnRules } from "#core/voice/EndOfTurnRules.ts"
import type { Played } from "#runtime/voice/Playout.ts"
import { TurnTaking } from "#runtime/voice/TurnTaking.ts"
import { openLine } from "#runtime/voice/VoiceLine.ts"
import { fliteClips } from "#test/support/prompts.ts"
import { scriptedRecognizer } from "#test/support/scriptedRecognizer.ts"
import { after, hiss, keyTone, nothing, type Sound } from "#test/support/sound.ts"
import { isNoise, loopback } from "#test/support/voiceScene.ts"

const yeahs = "Yeah, yeah, yeah, yeah, yeah."
const sentences = ["Yes, I would like that.", "Uh huh.", "Okay.", "Wait a minute, please.", yeahs]
const spoken = new Map([...fliteClips(sentences)].filter(({ voice }) => voice === "flite rms").map(({ name, samples }) => [name, samples]))
/** As loud and as long as a cough. */
const cough = hiss(180, 5000, 3)
const loudNoise = hiss(400, 5000, 4)

const interruptible: BargeInRules = { policy: "provisional", minWords: 3, allowInterrupt: true }
/** Speech that differs in each frame, so that it can be seen what was heard; never mistaken for noise. */
const speech = (frames: number) => Uint8Array.from({ length: frames * 160 }, (_, at) => (at * 7 + Math.floor(at / 160) * 31) % 90)
const bytesOf = (frames: ReadonlyArray<Uint8Array>) => Buffer.concat(frames.filter((frame) => !isNoise(frame)))

/** A call on a carrier with a delay of 40 ms, on a quiet line. */
const conversation = (rules: BargeInRules = interruptible, answer?: (tell: () => void) => void) => {
  const callee = loopback(2)
  const recognizer = scriptedRecognizer(answer)
  const told: Array<string> = []
  /** How the callee's turns start and end. */
  const turnings: Array<string> = []
  const stops: Array<Played | undefined> = []
  /** When texts stood that had been replaceable. */
  const settled: Array<number> = []
  const written: Array<{ readonly at: number; readonly isSilence: boolean }> = []
  /** Those of them that consist of speech. */
  const speech: Array<number> = []
  /** What was judged, and whether as an expected answer. */
  const judgements: Array<readonly [text: string, isAnswer: boolean]> = []
  const ignore = () => {}
  let turns: TurnTaking | undefined
  const session = Effect.runSync(
    Scope.provide(
      recognizer.open({ language: "en", keyterms: [], phrases: [] }, (event) => turns?.understood(event)),
      Effect.runSync(Scope.make())
    )
  )
  const millis = () => callee.sent.length * 20
  const write = (samples: Int16Array, isSpeech?: boolean) => {
    written.push({ at: millis(), isSilence: samples.every((sample) => sample === 0) })
    if (isSpeech === true) speech.push(millis())
    session.write(samples)
  }
  const listening = {
    now: () => callee.pacer.now(),
    rules: () => rules,
    recognizer: { finalize: session.finalize, write, settle: () => void settled.push(millis()), manner: () => recognizer },
    judge: (said: Pick<Pause, "isAnswer" | "text">, _from: number, judged: (probability: number) => void) => {
      judgements.push([said.text, said.isAnswer])
      judged(Effect.runSync(endOfTurnRules.probability({ ...pause, ...said })))
    }
  }
  const pause = { audio: new Int16Array(0), language: "en", expects: { _tag: "Anything" } } as const
  const { playout } = openLine(
    callee.media,
    callee.pacer,
    { verdict: ignore, moment: ignore, skipped: ignore, closed: ignore, failed: (cause) => t.error(cause) },
    {
      recording: undefined,
      detectMachine: false,
      listeners: (playout) => {
        turns = new TurnTaking(
          { ...listening, playout },
          {
            speculate: (text) => void told.push(`${millis()} speculate ${text}`),
            cancelSpeculation: () => void told.push(`${millis()} cancel`),
            tell: ({ _tag }) => {
              if (_tag !== "CalleeWaits") turnings.push(_tag)
            },
            committed: ({ text }) => {
              turnings.push("committed")
              told.push(`${millis()} committed ${text}`)
            },
            interrupted: (played) => void stops.push(played)
          }
        )
        return [turns]
      }
    }
  )
  const hears = (sound: Sound) => {
    const codes = encode(Int16Array.from(sound as ArrayLike<number>, (value) => Math.round(value)))
    for (let at = 0; at + 160 <= codes.length; at += 160) callee.step(codes.subarray(at, at + 160))
  }
  const says = (text: string) => {
    recognizer.says(text)
    const from = millis()
    hears(spoken.get(text) ?? nothing(0))
    return { from, until: millis() }
  }
  hears(nothing(1000))
  const key = () => turns?.keyed()
  const understood = (text: string, more: { readonly isForced: boolean; readonly replaces?: true }) =>
    turns?.understood({ _tag: "Final", text, fromMillis: 0, untilMillis: 0, isAnswer: false, confidence: undefined, ...more })
  const expects = (...phrases: ReadonlyArray<string>) => session.hint({ language: "en", keyterms: [], phrases })
  return { callee, expects, hears, judgements, key, millis, playout, says, settled, speech, stops, told, turnings, understood, written }
}

/** A call in which the agent speaks a line of four seconds, and has spoken one second of it. */
const spokenTo = (rules?: BargeInRules, answer?: (tell: () => void) => void) => {
  const call = conversation(rules, answer)
  call.playout.append(call.playout.epoch(), speech(200))
  call.playout.finish(call.playout.epoch(), () => {})
  call.hears(nothing(1000))
  return call
}
/** The longest stretch of silence that the callee hears, in milliseconds. */
const longestGap = (frames: ReadonlyArray<Uint8Array>) => {
  const stretches = frames
    .map((frame) => (isNoise(frame) ? "-" : " "))
    .join("")
    .split(" ")
  return Math.max(...stretches.slice(1, -1).map(({ length }) => length)) * 20
}

t.test("given a complete answer, then the turn is committed 200 ms after it, and thought about before", async (t) => {
  const { hears, says, speech, told, turnings } = conversation()
  const { from, until } = says("Yes, I would like that.")
  hears(nothing(1500))
  t.ok(speech.length > 40 && speech.every((at) => at > from && at < until + 150), "the recognizer is told what is speech")
  t.equal(told.length, 2)
  t.strictSame(turnings, ["CalleeStarted", "committed"])
  const [speculated, committed] = told.map((line) => Number.parseInt(line, 10) - (until - 50))
  t.match(told, [/speculate Yes, I would like that/, /committed Yes, I would like that/])
  t.ok((speculated ?? 999) <= 140, `thought about after ${speculated} ms`)
  t.ok((committed ?? 999) >= 180 && (committed ?? 999) <= 260, `committed after ${committed} ms`)
})

t.test("given phrases that are expected, then a turn that ends with one is judged as an answer, and others are not", async (t) => {
  const { expects, hears, judgements, says } = conversation()
  expects("Okay.")
  for (const text of ["Okay.", "Uh huh."]) {
    says(text)
    hears(nothing(2500))
  }
  t.strictSame(judgements, [
    ["Okay.", true],
    ["Uh huh.", false]
  ])
})

t.test("given a callee who interrupts, then the agent is silent at once, and what was heard is reported exactly", async (t) => {
  const { callee, hears, says, stops, told } = spokenTo()
  const { from } = says("Wait a minute, please.")
  const silentAt = callee.sent.findIndex((frame, at) => at > from / 20 && isNoise(frame)) * 20
  t.ok(silentAt - from - 20 <= 100, `silent ${silentAt - from - 20} ms after the voice`)
  hears(nothing(2000))
  t.equal(stops.length, 1)
  t.ok(Math.abs(bytesOf(callee.heard).length - (stops[0]?.bytes ?? 0)) <= 160)
  t.match(told, [/speculate Wait a minute/, /committed Wait a minute/])
})

t.test("given a cough or assent, then the agent continues with the next sample, and nothing counts as a turn", async (t) => {
  const check = (name: string, disturb: (call: ReturnType<typeof spokenTo>) => void, longest = 1500) => {
    const call = spokenTo()
    disturb(call)
    call.hears(nothing(5000))
    t.ok(bytesOf(call.callee.heard).equals(Buffer.from(speech(200))), `${name}: all is heard, once`)
    t.ok(longestGap(call.callee.heard) <= longest, `${name}: after ${longestGap(call.callee.heard)} ms`)
    t.strictSame([call.stops, call.told, call.turnings], [[], [], []], name)
    return longestGap(call.callee.heard)
  }
  t.ok(check("cough", ({ hears }) => hears(cough)) > 0, "it had paused")
  t.ok(check("assent", ({ says }) => says("Uh huh.")) > 0, "it had paused")
  // It continues for a moment between two of them.
  check("assent again and again", ({ says }) => says(yeahs), 2000)
  check("two of them", ({ hears, says }) => {
    says("Uh huh.")
    hears(nothing(800))
    says("Okay.")
  })
})

t.test("given a line that must be heard, when the callee talks over it, then it continues, and that is never answered", async (t) => {
  const { callee, hears, says, stops, told, written } = spokenTo({ ...interruptible, allowInterrupt: false })
  const { from, until } = says("Yes, I would like that.")
  hears(nothing(5000))
  t.ok(bytesOf(callee.heard).equals(Buffer.from(speech(200))))
  t.equal(longestGap(callee.heard), 0)
  t.strictSame([stops, told], [[], []])
  const during = written.filter(({ at }) => at > from && at < until)
  t.ok(during.length > 0 && during.every(({ isSilence }) => isSilence), "nor is it recognized: the recognizer is given silence")
  says("Okay.")
  hears(nothing(1500))
  t.match(told.at(-1), /committed Yes, I would like that. Okay./, "afterwards the callee is heard again")
})

/** A call whose recognizer answers only when it is let. */
const slowly = () => {
  const late: Array<() => void> = []
  const call = spokenTo(interruptible, (tell) => void late.push(tell))
  return { ...call, answers: () => late.forEach((tell) => void tell()) }
}
t.test("given a slow recognizer, when it reports words after the agent has continued, then that interrupts after all", async (t) => {
  const { answers, hears, says, stops, told, turnings } = slowly()
  says("Wait a minute, please.")
  hears(nothing(1800))
  t.equal(stops.length, 0, "the agent goes on")
  answers()
  hears(nothing(1500))
  t.equal(stops.length, 1, "then it is interrupted")
  t.match(told.at(-1), /committed Wait a minute, please\./)
  t.strictSame(turnings, ["CalleeStarted", "committed"])
})

t.test("given a turn that was over without its words, when they come while the agent answers, then the agent goes on", async (t) => {
  const late: Array<() => void> = []
  const { answers, hears, playout, says, stops, told } = {
    ...conversation(interruptible, (tell) => void late.push(tell)),
    answers: () => late.forEach((tell) => void tell())
  }
  says("Yes, I would like that.")
  hears(nothing(5200))
  t.match(told.at(-1), /committed \(not understood\)/)
  playout.append(playout.epoch(), speech(200))
  hears(nothing(500))
  answers()
  hears(nothing(1500))
  t.strictSame([stops, told.length], [[], 1], "an agent that is silenced would wait for a turn that does not follow")
})

t.test("given a slow recognizer, when the agent has continued before it finds no words, then the agent is not disturbed", async (t) => {
  const { answers, hears, stops, told, turnings } = slowly()
  hears(after(cough, nothing(1800)))
  answers()
  hears(nothing(1500))
  t.strictSame({ stops, told, turnings }, { stops: [], told: [], turnings: [] })
})

t.test("given noise and keys, when nothing was said, then a turn that had started is over, and a key starts none", async (t) => {
  const { hears, key, turnings } = conversation()
  hears(after(loudNoise, nothing(6000)))
  t.strictSame(turnings, ["CalleeStarted", "CalleeTurn"])
  key()
  hears(after(keyTone("5", 200), nothing(1500)))
  t.strictSame(turnings.slice(2), [])
})

t.test(
  "given a recognizer that replaces its texts, then only those of the present turn, and what is said over the agent counts once",
  async (t) => {
    const answered = conversation()
    answered.says("Yes, I would like that.")
    t.strictSame(answered.settled, [], "what has not been answered may be replaced")
    answered.hears(nothing(1000))
    t.equal(answered.settled.length, 1, "what has been answered stands")
    t.match(answered.told.at(-1), `${answered.settled[0]} committed`)

    const { hears, stops, understood } = spokenTo({ policy: "min_words", minWords: 3, allowInterrupt: true })
    hears(spoken.get("Uh huh.") ?? nothing(0))
    understood("well", { isForced: false })
    understood("well maybe", { isForced: true, replaces: true })
    hears(nothing(500))
    t.strictSame(stops, [], "two words do not interrupt")
  }
)
