/** The embedded voices: in which order speech is made, by how many workers, what is made once, and what is not made at all. */
import { Context, Effect, Exit, Fiber, FiberSet, Layer, Scope } from "effect"
import t from "tap"
import { decode, sampleRate } from "#core/audio/Mulaw.ts"
import { CampaignId } from "#core/Id.ts"
import { CurrentSpeechMetrics } from "#runtime/metrics/SpeechMetrics.ts"
import type { SpeechWanted } from "#core/model/TextToSpeech.ts"
import { fliteVoices } from "#runtime/voice/FliteWasm.ts"
import { type FliteOptions, FliteVoices } from "#runtime/voice/FliteVoices.ts"
import { SpeechAhead } from "#runtime/voice/SpeechAhead.ts"
import { areLate, leastUrgent, mostUrgent } from "#runtime/voice/SpeechQueue.ts"
import { fliteLayer } from "#test/support/flite.ts"
import { Tts } from "#runtime/voice/Tts.ts"
import { untilTrue } from "#test/support/until.ts"

const answered = (neededAt: number): SpeechWanted => ({ isAnswered: true, neededAt })
const ringing = (neededAt: number): SpeechWanted => ({ isAnswered: false, neededAt })
/** Speech that nobody waits for, and may never be needed. */
const foretold = ringing(Number.POSITIVE_INFINITY)

t.test("what is made next", async (t) => {
  const check = (said: string, next: number, ...wishes: ReadonlyArray<ReadonlyArray<SpeechWanted>>) => {
    const all = wishes.map((wants, index) => ({ index, wants }))
    t.equal(mostUrgent(all, 1000)?.index, next, said)
  }
  check("who has answered, before whom a phone has rung for longer", 1, [ringing(100)], [answered(1000)], [ringing(200)])
  check("of those who have answered, who has waited the longest", 1, [answered(1000)], [answered(900)])
  check("a first sentence that is needed soon, before a second one that is needed later", 1, [answered(4000)], [ringing(1500)])
  check("a second sentence that is needed by now, before anybody's who rings", 1, [ringing(500)], [answered(1000)])
  check("what several want, for the first of them", 1, [ringing(1100)], [ringing(3000), ringing(1050)])
  check("among equals, who came first", 0, [ringing(1100)], [ringing(1100)])
  check("what may be said next, after all that will be said", 1, [foretold], [ringing(1e9)])
  check("unless somebody waits for the same", 0, [foretold, answered(1000)], [ringing(500)])
  check("what nobody wants, last", 1, [], [ringing(9000)])
  t.equal(mostUrgent([], 1000), undefined)
  const wishes = [{ wants: [answered(900)] }, { wants: [ringing(5000)] }, { wants: [answered(4000)] }]
  t.equal(leastUrgent(wishes, 1000), wishes[1])
})

t.test("whether somebody will be kept waiting, when a piece takes 100 ms and half a second does not matter", async (t) => {
  const check = (said: string, expected: boolean, ...neededAt: ReadonlyArray<number>) => {
    const all = neededAt.map((at) => ({ wants: [ringing(Number.MAX_SAFE_INTEGER), ringing(at)] }))
    t.equal(areLate(all, 10_000, 100, 500), expected, said)
  }
  const times = (count: number, at: number) => Array.from({ length: count }, () => at)
  check("nobody is, where nothing waits", false)
  check("nor by 25 that ring for two seconds", false, ...times(25, 12_000))
  check("but by one more", true, ...times(26, 12_000))
  check("not by second sentences, which are needed later", false, ...times(35, 16_000), ...times(25, 12_000))
  check("nor by what may be said next", false, ...times(100, Number.POSITIVE_INFINITY), ...times(25, 12_000))
  check("unless those are too many as well", true, ...times(60, 16_000), ...times(6, 12_000))
  check("somebody who has waited for long is", true, 9_400)
  check("and one who has just answered is not", false, 10_000)
})

/**
 * Responds with the number of texts that it was asked for, each after the milliseconds that the text names, or once it may continue. One text
 * makes it die.
 */
const worker = new URL(
  `data:text/javascript,${encodeURIComponent(`
  import { parentPort } from "node:worker_threads"
  let asked = 0
  parentPort.on("message", ({ text }) => {
    if (text === "die") process.exit(3)
    const answer = () => parentPort.postMessage(new Uint8Array(160).fill(++asked))
    if (text !== "slow") return setTimeout(answer, Number(/[0-9]+/.exec(text)?.[0] ?? 0))
    const channel = new BroadcastChannel("goOn")
    channel.onmessage = () => {
      channel.close()
      answer()
    }
  })
`)}`
)
/** Requests speech, and records when it is ready. */
const askingOf = (tts: Tts["Service"], order: Array<string>) => (text: string, wanted?: SpeechWanted) =>
  Effect.forkChild(
    Effect.map(tts.speak(text, wanted), ([count]) => {
      order.push(text)
      return count
    }),
    { startImmediately: true }
  )

interface Speaking {
  readonly tts: Tts["Service"]
  readonly ask: ReturnType<typeof askingOf>
  /** The texts that were asked for and are ready, in the order of that. */
  readonly order: ReadonlyArray<string>
}
const speaking = <A>(
  use: (speaking: Speaking) => Effect.gen.Return<A, unknown, FliteVoices | Scope.Scope>,
  options: FliteOptions = { worker }
) => {
  const order: Array<string> = []
  const work = Tts.use((tts) => Effect.gen(() => use({ tts, ask: askingOf(tts, order), order })))
  return Effect.runPromise(Effect.scoped(work).pipe(Effect.provide(fliteLayer({ workers: 1, ...options }))))
}

/** Lets the slow worker answer, and waits for what it makes. The worker may not listen yet, so it is told again and again. */
const released = <A, E>(slow: Effect.Effect<A, E>) =>
  Effect.gen(function* () {
    const channel = new BroadcastChannel("goOn")
    const told = setInterval(() => channel.postMessage("go on"), 10)
    const made = yield* slow
    clearInterval(told)
    channel.close()
    return made
  })

t.test("given greetings of phones that ring, when one of them is answered, then its greeting is made next", async (t) => {
  const order = await speaking(function* ({ ask, order }) {
    const far = Number.MAX_SAFE_INTEGER
    const prepared = [yield* ask("first", ringing(far)), yield* ask("second", ringing(far)), yield* ask("third", ringing(far))]
    yield* Fiber.joinAll([...prepared, yield* ask("third")])
    return order
  })
  t.strictSame([...new Set(order)], ["first", "third", "second"])
})

t.test("given greetings that wait, when their calls have ended, then only what somebody else wants as well is made", async (t) => {
  const made = await speaking(function* ({ ask, order, tts }) {
    const first = yield* ask("first 50")
    const ended = [yield* ask("nobody's"), yield* ask("shared")]
    const other = yield* ask("shared")
    yield* Fiber.interruptAll(ended)
    yield* Fiber.joinAll([first, other])
    return [order, (yield* tts.speak("last"))[0]]
  })
  t.strictSame(made, [["first 50", "shared"], 3])
})

t.test("given two workers, when one is busy, then the other makes what comes next, and neither two at a time", async (t) => {
  const made = await speaking(
    function* ({ ask, order }) {
      const slow = yield* ask("slow")
      const quick = yield* Fiber.joinAll([yield* ask("quick 1"), yield* ask("quick 2"), yield* ask("quick 3")])
      const counts = [yield* released(Fiber.join(slow)), ...quick]
      return [order.at(-1), counts]
    },
    { worker, workers: 2 }
  )
  t.strictSame(made, ["slow", [1, 1, 2, 3]])
})

t.test("given a worker that is busy, when more is asked for, then the metrics show its current work and the queue", async (t) => {
  const jobs = await speaking(function* ({ ask }) {
    const { pools } = yield* CurrentSpeechMetrics
    const jobs = () => [pools.get("flite")?.running(), pools.get("flite")?.waiting()]
    const before = jobs()
    const slow = yield* ask("slow")
    const next = [yield* ask("next"), yield* ask("last"), yield* ask("last")]
    const during = jobs()
    yield* released(Fiber.joinAll([slow, ...next]))
    return { before, during, after: jobs() }
  })
  t.strictSame(jobs, { before: [0, 0], during: [1, 2], after: [0, 0] })
})

t.test("given a full queue, when a text is wanted sooner, then the one that is wanted last makes room", async (t) => {
  const exits = await speaking(function* ({ ask }) {
    yield* ask("busy 300")
    for (let i = 1; i < 1024; i++) yield* ask(`w${"x".repeat(i)}`, ringing(Number.MAX_SAFE_INTEGER - 2000 + i))
    const last = yield* ask("last", ringing(Number.MAX_SAFE_INTEGER))
    const late = yield* ask("too late", ringing(Number.MAX_SAFE_INTEGER))
    const soon = yield* ask("soon")
    return yield* Effect.forEach([soon, last, late], Fiber.await)
  })
  t.strictSame(exits.map(Exit.isSuccess), [true, false, false])
})

t.test("given a voice that has not spoken yet, when it is warmed up with unknown text, then its worker is ready beforehand", async (t) => {
  const counts = await speaking(function* ({ tts }) {
    yield* tts.warm(["one"])
    yield* tts.warm(["one"])
    const first = (yield* tts.speak("one"))[0]
    yield* tts.warm(["one", "two"])
    return [first, (yield* tts.speak("two"))[0]]
  })
  t.strictSame(counts, [2, 3])
})

t.test("given speech that waits, when the engine stops, then nobody waits for it any longer", async (t) => {
  const exits = await Effect.runPromise(
    Effect.gen(function* () {
      const scope = yield* Scope.make()
      const ask = askingOf(Context.get(yield* Layer.buildWithScope(fliteLayer({ worker, workers: 1 }), scope), Tts), [])
      const all = [yield* ask("slow 60000"), yield* ask("waits")]
      yield* Scope.close(scope, Exit.void)
      return yield* Effect.forEach(all, Fiber.await)
    })
  )
  t.strictSame(exits.map(Exit.isFailure), [true, true])
})

t.test("given more greetings than can be made while phones ring, then they delay only each other", async (t) => {
  const [mine, others] = [CampaignId.make(1), CampaignId.make(2)]
  const crowded = await speaking(function* ({ ask, tts }) {
    yield* tts.speak("slow 1000")
    const before = tts.isCrowdedBy(mine)
    const all = yield* Effect.forEach(Array.from({ length: 60 }), (_, index) =>
      ask(`${"x".repeat(index)} 500`, { ...ringing(0), campaignId: mine })
    )
    const full = [tts.isCrowdedBy(mine), tts.isCrowdedBy(others)]
    yield* Fiber.interruptAll(all)
    return [before, ...full, tts.isCrowdedBy(mine)]
  })
  t.strictSame(crowded, [false, true, false, false])
})

t.test("given lines that may be spoken next, then their beginnings are made, until others take their place", async (t) => {
  const asked: Array<readonly [text: string, isAnswered: boolean]> = []
  const givenUp: Array<string> = []
  const speak = (text: string, { isAnswered }: SpeechWanted) => {
    asked.push([text, isAnswered])
    return Effect.onInterrupt(Effect.never, () => Effect.sync(() => void givenUp.push(text)))
  }
  const before = await Effect.runPromise(
    Effect.scoped(
      Effect.gen(function* () {
        const ahead = new SpeechAhead(yield* FiberSet.makeRuntime<never, void>(), speak)
        ahead.make(["**One** is next. Does it suit you?", "Two is next."], "whenever")
        yield* Effect.promise(() => untilTrue("wishes", () => asked.length === 2))
        ahead.make(["Two is next."], "soon")
        yield* Effect.promise(() => untilTrue("wish", () => asked.length === 3))
        yield* Effect.promise(() => untilTrue("withdrawal", () => givenUp.length === 2))
        return [...givenUp]
      })
    )
  )
  t.strictSame(asked, [
    ["One is next.", false],
    ["Two is next.", false],
    ["Two is next.", true]
  ])
  t.strictSame(before, ["One is next.", "Two is next."])
  t.equal(givenUp.length, 3, "none outlives the call")
})

/** With the engine's own worker, which speaks. */
const real: FliteOptions = {}

t.test("says the same text in the same way, whichever worker says it", async (t) => {
  const said = () =>
    speaking(function* ({ tts }) {
      return yield* tts.speak("Hello, this is Anna. Dr. Smith sees you at 3pm.")
    }, real)
  const [one, other] = [await said(), await said()]
  t.ok(one.length % 160 === 0 && one.length > 2 * 8000 && one.length < 8 * 8000, `${one.length} bytes`)
  t.ok(new Set(one).size > 100, "it is not silence")
  t.equal(Buffer.compare(one, other), 0)
})

t.test("synthesizes a text once, for all requests at the same time or later, unless the cache has no room for it", async (t) => {
  const spoken = (options: FliteOptions) =>
    speaking(function* ({ tts: { speak } }) {
      const together = yield* Effect.all([speak("one"), speak("one"), speak("one")], { concurrency: "unbounded" })
      return [...together, yield* speak("one")]
    }, options)
  const [first, ...others] = await spoken({ worker })
  t.ok(others.every((speech) => speech === first))
  t.equal(first?.[0], 1)
  const counts = (await spoken({ worker, cacheBytes: 0 })).map(([count]) => count)
  t.strictSame(counts, [1, 1, 1, 2])
})

/** The number of each text's speech, or the reason why there is none. */
const outcomesOf = (texts: ReadonlyArray<string>, options: FliteOptions) =>
  speaking(function* ({ tts }) {
    const outcome = (text: string) => Effect.match(tts.speak(text), { onSuccess: ([count]) => count, onFailure: ({ reason }) => reason })
    return yield* Effect.forEach(texts, outcome, { concurrency: "unbounded" })
  }, options)

t.test("refuses text that cannot be spoken", async (t) => {
  t.strictSame(await outcomesOf(["日本語", "  ", "x".repeat(4001)], real), ["Unspeakable", "Unspeakable", "TooLong"])
})

t.test("fails the text that made its worker die, and speaks the next ones with a new worker", async (t) => {
  t.strictSame(await outcomesOf(["one", "die", "two", "three"], { worker }), [1, "Crashed", 1, 2])
})

t.test("ends its worker when idle", async (t) => {
  const counts = await speaking(
    function* ({ tts: { speak } }) {
      const before = yield* Effect.forEach(["one", "two"], (text) => speak(text))
      yield* Effect.sleep("200 millis")
      return [...before, yield* speak("three")].map(([count]) => count)
    },
    { worker, idle: "20 millis" }
  )
  t.strictSame(counts, [1, 2, 1])
})

t.test("is closed with its layer", async (t) => {
  const tts = Context.get(await Effect.runPromise(Effect.scoped(Layer.build(fliteLayer({ worker })))), Tts)
  t.equal((await Effect.runPromise(Effect.flip(tts.speak("one")))).reason, "Unreachable")
})

/** What each of the voices says. */
const inEachVoice = (tts: Tts["Service"], text: string) =>
  FliteVoices.use(({ speaker }) =>
    Effect.forEach(fliteVoices, (voice) => tts.speak(text, undefined, { speech: speaker(voice), key: voice }))
  )

t.test("each voice has its own speech, from the cache when it says the same again, and the default voice is one of them", async (t) => {
  const { first, second, usual } = await speaking(function* ({ tts }) {
    const [first, second] = [yield* inEachVoice(tts, "Good morning."), yield* inEachVoice(tts, "Good morning.")]
    return { first, second, usual: yield* tts.speak("Good morning.") }
  }, real)
  t.equal(new Set(first.map((speech) => Buffer.from(speech).toString("base64"))).size, fliteVoices.length)
  for (const [index, speech] of first.entries()) {
    t.ok(speech.length > 2000, `by ${fliteVoices[index]}`)
    t.equal(second[index], speech, "from the cache")
  }
  t.equal(usual, first[fliteVoices.indexOf("slt")])
})

t.test("a text that begins with a sibilant is heard at once in each voice, however much the phone line filters out", async (t) => {
  const louderThanTheLine = 200
  const speeches = await speaking(function* ({ tts }) {
    return yield* inEachVoice(tts, "Step two of the plan is a visit.")
  }, real)
  for (const [index, speech] of speeches.entries()) {
    const first = decode(speech).findIndex((sample) => Math.abs(sample) > louderThanTheLine)
    t.ok(first >= 0 && first <= 0.02 * sampleRate, `by ${fliteVoices[index]}, after ${(1000 * first) / sampleRate} ms`)
  }
})
