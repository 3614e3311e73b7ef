/** What interrupts the agent, and what does not: words, assent, coughs, and its own echo. */
import fc from "fast-check"
import t from "tap"
import { makeEchoMeter } from "#core/audio/EchoMeter.ts"
import { interruptMillis, makeVoiceActivity } from "#core/audio/VoiceActivity.ts"
import { type BargeInCommand, type BargeInEvent, type BargeInPolicy, holdUntil, initialBargeIn, nextBargeIn } from "#core/voice/BargeIn.ts"
import { forAllOf } from "#test/support/forAll.ts"
import { framesOf, hiss } from "#test/support/sound.ts"

interface Given {
  readonly policy?: BargeInPolicy
  readonly allowInterrupt?: boolean
  readonly isEnding?: boolean
}

/** The commands given in a call in which every deadline is met. */
const played = (events: ReadonlyArray<BargeInEvent>, { allowInterrupt = true, isEnding = false, policy = "provisional" }: Given = {}) => {
  const rules = { allowInterrupt, isEnding, minWords: 3, policy }
  const done: Array<{ readonly at: number; readonly command: BargeInCommand }> = []
  let state = initialBargeIn
  const tell = (event: BargeInEvent) => {
    const step = nextBargeIn(state, event, rules)
    state = step.state
    for (const command of step.commands) done.push({ at: event.at, command })
  }
  const pass = (until: number) => {
    const due = holdUntil(state)
    if (due !== undefined && due <= until) tell({ _tag: "Passed", at: due })
  }
  for (const event of events) {
    pass(event.at)
    tell(event)
  }
  pass(Number.POSITIVE_INFINITY)
  return { done, state }
}

/** `voice`, `pause`, `end`, `text ...` and `last ...`, each at a time, separated by `|`, while the agent speaks from the beginning. */
const doneIn = (script: string, given: Given = {}): ReadonlyArray<string> => {
  const events = script.split(" | ").map((one): BargeInEvent => {
    const [time, name, ...words] = one.split(" ")
    const at = Number(time)
    if (name === "voice") return { _tag: "VoiceStarted", at }
    if (name === "pause") return { _tag: "VoicePaused", at }
    if (name === "end") return { _tag: "AgentFinished", at }
    return { _tag: "Understood", at, text: words.join(" "), isLast: name === "last" }
  })
  return played([{ _tag: "AgentStarted", at: 0 }, ...events], given).done.map(({ at, command }) => `${at} ${command}`)
}

t.test("given an agent that speaks, when the callee is heard, then words stop it, and assent and coughs do not", async (t) => {
  const check = (name: string, script: string, expected: ReadonlyArray<string>) => t.strictSame(doneIn(script), expected, name)
  check("words", "1000 voice | 1300 text wait", ["1000 Pause", "1300 Interrupt"])
  check("assent", "1000 voice | 1300 pause | 1400 last Uh-huh.", ["1000 Pause", "1400 Resume"])
  check("more assent", "1000 voice | 1300 pause | 1400 last yeah, okay", ["1000 Pause", "1400 Resume"])
  check("assent, then words", "1000 voice | 1200 text okay | 1500 text okay but when", ["1000 Pause", "1500 Interrupt"])
  for (const assent of [
    "yeah yeah yeah yeah yeah",
    "Uh-huh, uh-huh.",
    "uh huh uh huh uh huh",
    "Yeah, okay, right.",
    "yeah-yeah-yeah",
    "Yeeeah. Mmmm, got it",
    "I see, okay, I see, right"
  ]) {
    check(`again and again: ${assent}`, `1000 voice | 1300 pause | 1400 last ${assent}`, ["1000 Pause", "1400 Resume"])
    check(`in one breath: ${assent}`, `1000 voice | 1300 text yeah | 1900 text ${assent} | 2800 pause | 2900 last ${assent}`, [
      "1000 Pause",
      "2400 Resume",
      "2900 Disregard"
    ])
    check(`then words, in one breath: ${assent}`, `1000 voice | 1900 text ${assent} | 2600 text ${assent} but wait`, [
      "1000 Pause",
      "2400 Resume",
      "2600 Interrupt"
    ])
  }
  check("yeah, but wait", "1000 voice | 1300 text yeah | 1500 text yeah but wait", ["1000 Pause", "1500 Interrupt"])
  check("assent, when the hold ends on words", "1000 voice | 1300 text yeah | 2300 text yeah that", ["1000 Pause", "2300 Interrupt"])
  check("assent without end", `1000 voice | 1900 text ${"okay ".repeat(13)}`, ["1000 Pause", "1900 Interrupt"])
  check("a no", "1000 voice | 1300 pause | 1400 last No.", ["1000 Pause", "1400 Interrupt"])
  check("a cough", "1000 voice | 1200 pause | 1350 last", ["1000 Pause", "1350 Resume"])
  check("a cough, and a recognizer that is silent", "1000 voice | 1200 pause", ["1000 Pause", "2400 Resume"])
  check("a speech, and a recognizer that is silent", "1000 voice", ["1000 Pause", "2400 Interrupt"])
  check("a cough that begins again", "1000 voice | 1200 pause | 1300 voice | 1320 last | 1500 pause | 1650 last", [
    "1000 Pause",
    "1650 Resume"
  ])
  check("two coughs", "1000 voice | 1200 pause | 1350 last | 2000 voice | 2200 pause | 2350 last", [
    "1000 Pause",
    "1350 Resume",
    "2000 Pause",
    "2350 Resume"
  ])
  check("the callee is too quiet to be noticed, and understood", "1000 last stop it", ["1000 Interrupt"])
  check("the agent had finished", "900 end | 1000 voice | 1300 text wait", [])
})

t.test("given an agent that has almost finished, when the callee assents, then that is the answer, and a cough is not", async (t) => {
  const answered = (text: string) => doneIn(`1000 voice | 1300 pause | 1400 last ${text}`, { isEnding: true })
  t.strictSame(
    [answered("okay"), answered("")],
    [
      ["1000 Pause", "1400 Interrupt"],
      ["1000 Pause", "1400 Resume"]
    ]
  )
})

t.test("given other policies, when the callee is heard, then they decide", async (t) => {
  const check = (given: Given, expected: ReadonlyArray<string>) =>
    t.strictSame(doneIn("1000 voice | 1300 text wait | 1600 text wait a minute | 1900 last wait a minute", given), expected)
  check({ policy: "vad" }, ["1000 Interrupt"])
  check({ policy: "min_words" }, ["1600 Interrupt"])
  check({ policy: "provisional", allowInterrupt: false }, ["1900 Disregard"])
  check({ policy: "vad", allowInterrupt: false }, ["1900 Disregard"])
  t.strictSame(doneIn("1000 voice | 1300 pause | 1400 last not now", { policy: "min_words" }), ["1400 Disregard"])
})

const anyEvent = fc.oneof(
  fc.record({ _tag: fc.constantFrom("AgentStarted" as const, "VoiceStarted" as const, "VoicePaused" as const) }),
  fc.record({
    _tag: fc.constant("Understood" as const),
    text: fc.constantFrom("", "okay", "okay okay okay okay okay", "stop", "wait a minute"),
    isLast: fc.boolean()
  })
)

t.test("whatever happens in whatever order, a pause ends once, on time, and a protected line is never interrupted", async () => {
  forAllOf(
    { numRuns: 1000 },
    fc.array(fc.tuple(fc.integer({ min: 0, max: 900 }), anyEvent), { maxLength: 40, size: "max" }),
    fc.boolean(),
    (all, allowInterrupt) => {
      let at = 0
      const { done, state } = played(
        all.map(([later, event]) => ({ ...event, at: (at += later) })),
        { allowInterrupt }
      )
      let heldAt: number | undefined
      const isRight = done.every(({ at, command }) => {
        if (command === "Disregard") return heldAt === undefined
        const isAllowed = command === "Pause" ? heldAt === undefined : heldAt === undefined ? command === "Interrupt" : at - heldAt <= 1400
        heldAt = command === "Pause" ? at : undefined
        return isAllowed && allowInterrupt
      })
      return state._tag !== "Held" && isRight
    }
  )
})

/** The syllables of a speaking agent, as frame levels; each seed gives different speech. */
const syllables = (frames: number, seed: number): ReadonlyArray<number> =>
  Array.from(
    hiss(frames * 20, 1, seed).filter((_, at) => at % 160 === 0),
    (value, at) => Math.abs(value) * 4000 * (Math.floor(at / 9) % 3 === 0 ? 0.1 : 1)
  )

t.test("given a line with an echo, when the agent speaks, then its loudness is measured, and otherwise there is none", async (t) => {
  const measured = (decibels: number | undefined, lag: number, more: (at: number) => number = () => 20) => {
    const echo = makeEchoMeter()
    const agent = syllables(1000, 5)
    for (const [at, level] of agent.entries())
      echo.push(level, more(at) + (decibels === undefined ? 0 : 10 ** (decibels / 20) * (agent[at - lag] ?? 0)))
    return echo
  }
  for (const [decibels, lag] of [
    [-10, 3],
    [-20, 12],
    [-28, 25],
    [-20, 0]
  ] as const)
    t.ok(Math.abs((measured(decibels, lag).decibels() ?? 0) - decibels) < 1, `${decibels} dB after ${lag * 20} ms`)
  t.equal(measured(undefined, 0).decibels(), undefined, "silence")
  const callee = syllables(1000, 11)
  t.equal(measured(undefined, 0, (at) => callee[at] ?? 0).decibels(), undefined, "somebody else who speaks")
  t.equal(measured(-20, 12).expected() > 0, true)
  t.strictSame([undefined, -35, -30, -29, -22.5, -15, -5].map(interruptMillis).map(Math.round), [60, 60, 60, 184, 210, 240, 240])
})

t.test("given a known echo, when the agent speaks, then it is not taken for the callee, who must speak for longer", async (t) => {
  const startOf = (loudness: number, decibels: number | undefined) => {
    const echo = { decibels: () => decibels, expected: () => (decibels === undefined ? 0 : 4000 * 10 ** (decibels / 20)) }
    const activity = makeVoiceActivity({
      isVoice: () => true,
      gate: { push: () => true, noise: () => 10 },
      echo,
      isInterrupting: () => true
    })
    let millis = 0
    for (const frame of framesOf(hiss(1000, loudness))) {
      millis += 20
      if (activity.push(frame) === "started") return millis
    }
    return undefined
  }
  t.strictSame([startOf(2000, undefined), startOf(2000, -20), startOf(400, -20)], [60, 220, undefined])
})
