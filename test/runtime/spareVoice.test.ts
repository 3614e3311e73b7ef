/** What a callee hears if the voice that the agent chose fails, or is late: the engine's own, within a second and a half. */
import { Effect, Exit, Fiber } from "effect"
import { TestClock } from "effect/testing"
import t from "tap"
import type { ChosenVoice } from "#core/model/ChosenVoice.ts"
import { CallVoice } from "#runtime/voice/CallVoice.ts"
import type { Saying } from "#runtime/voice/Openings.ts"
import { TtsError } from "#runtime/voice/Tts.ts"

const chosen: ChosenVoice = { speech: { provider: "acme", voice: "anna" } as ChosenVoice["speech"], key: "" }
const sound = new Uint8Array(160)
const fails = (reason: TtsError["reason"]) => Effect.fail(new TtsError({ reason }))

/** How the service takes each sentence: when its first part comes, and how it ends. */
interface Service {
  readonly partAfter?: number
  readonly end: Effect.Effect<void, TtsError>
}

/** One call whose service takes sentences in this way, in order. */
const callWith = (services: ReadonlyArray<Service>, language = "en-GB") => {
  const asked: Array<string> = []
  const said: Array<string> = []
  const replaced: Array<string> = []
  let sentences = 0
  const voice = new CallVoice({
    chosen,
    language,
    campaignId: undefined,
    replaced: ({ provider }, { reason }) => Effect.sync(() => void replaced.push(`${provider}: ${reason}`)),
    openings: {
      firstSoundMillis: 1500,
      sayingOf: (of) => (of === undefined ? { provider: "flite", model: "rms" } : { provider: of.speech.provider, model: of.speech.voice }),
      sentence: (text, _wanted, by, part) =>
        Effect.gen(function* () {
          asked.push(by === undefined ? "flite" : by.speech.provider)
          if (by === undefined) return { speech: sound, text }
          const { end, partAfter } = services[sentences++] ?? { end: Effect.void }
          if (partAfter !== undefined) {
            yield* Effect.sleep(partAfter)
            part(sound, [])
          }
          yield* end
          return { speech: sound, text }
        })
    }
  })
  const say = (text: string, aheadMillis = 0) =>
    voice.speak(
      text,
      aheadMillis,
      ({ provider }: Saying) => void said.push(`${provider}: ${text}`),
      () => {}
    )
  return { asked, replaced, said, say, voice }
}
const on = <A>(work: Effect.Effect<A, unknown>) => Effect.runPromise(Effect.provide(work, TestClock.layer()) as Effect.Effect<A>)

t.test("given a voice that fails before its first sound", async (t) => {
  await t.test("when it fails once, then the sentence is spoken by the engine's own, and the next one by the chosen voice", async (t) => {
    const call = callWith([{ end: fails("Crashed") }, { end: Effect.void }, { end: fails("Crashed") }])
    await on(Effect.forEach(["One.", "Two.", "Three."], (text) => call.say(text)))
    t.strictSame(call.said, ["flite: One.", "acme: Two.", "flite: Three."])
    t.strictSame(call.replaced, ["acme: Crashed", "acme: Crashed"], "and each time the reason is noted")
    t.strictSame(call.voice.spoken, [
      { provider: "flite", model: "rms", characters: 10 },
      { provider: "acme", model: "anna", characters: 4 }
    ])
    t.equal(call.voice.saying.provider, "acme")
  })

  await t.test("when it fails twice in a row, or refuses its settings, then it is not asked again in this call", async (t) => {
    for (const services of [
      [{ end: fails("Unreachable") }, { end: fails("Busy") }],
      [{ end: Effect.void }, { end: fails("Refused") }]
    ]) {
      const call = callWith(services)
      await on(Effect.forEach(["One.", "Two.", "Three."], (text) => call.say(text)))
      t.strictSame(call.asked.slice(-3), ["acme", "flite", "flite"])
      t.equal(call.voice.next, undefined)
    }
  })

  await t.test("when it throws, then that is a failure like any other", async (t) => {
    const call = callWith([{ end: Effect.die(new Error("a fault")) }])
    await on(call.say("One."))
    t.strictSame(call.said, ["flite: One."])
  })

  await t.test("when nothing in the sentence can be said, or the agent speaks another language, then nobody takes over", async (t) => {
    const unsayable = callWith([{ end: fails("TooLong") }])
    t.ok(Exit.isFailure(await on(Effect.exit(unsayable.say("One.")))))
    const german = callWith([{ end: fails("Crashed") }], "de-DE")
    t.ok(Exit.isFailure(await on(Effect.exit(german.say("Eins.")))))
    t.strictSame([unsayable.asked, german.asked], [["acme"], ["acme"]])
  })
})

t.test("given a voice that is late", async (t) => {
  const heardAfter = (service: Service, aheadMillis: number, millis: ReadonlyArray<number>) => {
    const call = callWith([service])
    return on(
      Effect.gen(function* () {
        const speaking = yield* Effect.forkChild(Effect.exit(call.say("One.", aheadMillis)), { startImmediately: true })
        const seen: Array<ReadonlyArray<string>> = []
        for (const wait of millis) {
          yield* TestClock.adjust(wait)
          seen.push([...call.said])
        }
        yield* Fiber.interrupt(speaking)
        return seen
      })
    )
  }
  const never = { end: Effect.never }
  t.strictSame(await heardAfter(never, 0, [1499, 1]), [[], ["flite: One."]], "then the engine's own speaks after a second and a half")
  t.strictSame(await heardAfter(never, 4000, [5499, 1]), [[], ["flite: One."]], "counted from when the sentence is due")
  t.strictSame(
    await heardAfter({ partAfter: 1400, end: Effect.never }, 0, [1400, 5000]),
    [["acme: One."], ["acme: One."]],
    "but a sentence that has begun is not said twice"
  )
})

t.test("given a voice that breaks off in the middle, then the sentence fails, and counts as a failure", async (t) => {
  const call = callWith([{ partAfter: 10, end: fails("Crashed") }, { end: fails("Crashed") }])
  const failed = await on(
    Effect.gen(function* () {
      const speaking = yield* Effect.forkChild(Effect.exit(call.say("One.")), { startImmediately: true })
      yield* TestClock.adjust(10)
      return Exit.isFailure(yield* Fiber.join(speaking))
    })
  )
  t.ok(failed)
  t.strictSame([call.said, call.replaced], [["acme: One."], []])
  await on(call.say("Two."))
  t.equal(call.voice.next, undefined)
})
