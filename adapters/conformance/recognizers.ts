/**
 * What every recognizer must do, as named cases that any test runner can run. They check what it recognizes in speech that the world supplies.
 */
import { Effect, Exit, Scope } from "effect"
import type { Egress } from "#core/egress/Egress.ts"
import type { ModelError } from "#core/model/LanguageModel.ts"
import type { RecognizerProvider } from "#core/model/RecognizerProvider.ts"
import type { RecognizerEvent, RecognizerHints, RecognizerSession } from "#core/model/SpeechToText.ts"
import { type Case, verdictOf } from "./Case.ts"
import { demand, inWords, Nonconformity, NotAsked } from "./Nonconformity.ts"
import { nowMillis } from "./now.ts"

/** The service that a recognizer calls, and the callees that it hears. */
export interface RecognizerWorld {
  readonly config: Readonly<Record<string, unknown>>
  readonly egress: Egress
  /** Clear speech of this English text: PCM16 at 8 kHz. */
  readonly speech: (text: string) => Int16Array
  /** Makes all recognition fail from now on. Left out if that cannot happen. */
  readonly breakDown?: () => void
  readonly close: () => Promise<void>
}

interface Options {
  /** How long a case waits for an answer. A long time costs nothing when answers arrive soon, so be generous on a busy machine. */
  readonly patienceMillis?: number
}

type Final = Extract<RecognizerEvent, { readonly _tag: "Final" }>

const rate = 8000
const frame = rate / 50
const PATIENCE_MILLIS = 120_000
const hints: RecognizerHints = { language: "en-US", keyterms: [], phrases: ["yes", "no thank you"] }
/** Klingon. */
const foreign = "tlh"

const wordsOf = (text: string): string => (text.toLowerCase().match(/[a-z']+/g) ?? []).join(" ")
const quiet = (millis: number): Int16Array => new Int16Array((millis * rate) / 1000)

/** One call that is listened to. */
class Line {
  readonly events: Array<RecognizerEvent> = []
  readonly #world: RecognizerWorld
  readonly #patienceMillis: number
  readonly #scope = Scope.makeUnsafe()
  readonly #frame = new Int16Array(frame)
  #heard: () => void = () => {}
  #session: RecognizerSession | undefined
  #millis = 0

  constructor(world: RecognizerWorld, patienceMillis: number) {
    this.#world = world
    this.#patienceMillis = patienceMillis
  }

  /** Returns undefined if it was opened. */
  async open(provider: RecognizerProvider, first: RecognizerHints): Promise<ModelError | undefined> {
    const emit = (event: RecognizerEvent) => {
      this.events.push(event)
      this.#heard()
    }
    const { config, egress } = this.#world
    const opened = provider.recognizer(config, { egress }).open(first, emit)
    const outcome = await Effect.runPromise(
      Effect.match(Scope.provide(opened, this.#scope), {
        onSuccess: (session) => ({ session, error: undefined }),
        onFailure: (error) => ({ session: undefined, error })
      })
    )
    this.#session = outcome.session
    return outcome.error
  }

  get session(): RecognizerSession {
    if (this.#session === undefined) throw new Error("The recognizer was not opened")
    return this.#session
  }

  get millis(): number {
    return this.#millis
  }

  /** All frames arrive in one buffer, which is reused. */
  hears(...parts: ReadonlyArray<Int16Array>): void {
    for (const part of parts) {
      for (let at = 0; at + frame <= part.length; at += frame) {
        this.#frame.set(part.subarray(at, at + frame))
        this.session.write(this.#frame)
        this.#millis += 20
      }
    }
    this.#frame.fill(0x2aaa)
  }

  says(text: string): void {
    this.hears(quiet(500), this.#world.speech(text), quiet(200))
  }

  forced(): ReadonlyArray<Final> {
    return this.events.filter((event): event is Final => event._tag === "Final" && event.isForced)
  }

  /** What was understood before each answer to a `finalize`, in words. The text of a turn that the recognizer ends comes with its end. */
  answers(): ReadonlyArray<string> {
    const answers: Array<string> = []
    let text = ""
    for (const event of this.events) {
      if (event._tag !== "Final" && event._tag !== "EndDeclared") continue
      text = `${text} ${event.text}`
      if (event._tag !== "Final" || !event.isForced) continue
      answers.push(wordsOf(text))
      text = ""
    }
    return answers
  }

  async until(holds: () => boolean, expected: string): Promise<void> {
    const over = nowMillis() + this.#patienceMillis
    while (!holds()) {
      const left = over - nowMillis()
      if (left <= 0) throw new Nonconformity({ expected, seen: inWords(this.events), why: "the callee waits for an answer" })
      const { promise, resolve } = Promise.withResolvers<void>()
      this.#heard = resolve
      const timer = setTimeout(resolve, left)
      await promise
      clearTimeout(timer)
    }
  }

  answered(count: number): Promise<void> {
    return this.until(() => this.forced().length >= count, `${count} answers to finalize`)
  }

  close(): Promise<void> {
    return Effect.runPromise(Scope.close(this.#scope, Exit.void))
  }
}

interface Scene {
  readonly provider: RecognizerProvider
  readonly world: RecognizerWorld
  readonly line: () => Promise<Line>
  readonly unopened: () => Line
}

/** One thing that every recognizer must do. */
interface Rule {
  readonly name: string
  readonly holds: (scene: Scene) => Promise<void>
}

const understood = (line: Line, ...expected: ReadonlyArray<string>): void => {
  const answers = line.answers()
  demand(
    answers.join("|") === expected.join("|"),
    `the answers ${inWords(expected)}`,
    () => inWords(answers),
    "each finalize belongs to a turn of the callee, and gets what was said in it"
  )
}

const rules: ReadonlyArray<Rule> = [
  {
    name: "open: an unsupported language is refused for good",
    holds: async ({ provider, unopened }) => {
      if (provider.manifest.languages === undefined) throw new NotAsked("it names no languages")
      const error = await unopened().open(provider, { ...hints, language: foreign })
      demand(error?.isRetryable === false, "an error that is final", () => inWords(error), "it would hear nonsense, and act on it")
    }
  },
  {
    name: "write: it takes frames as they come, and copies what it keeps",
    holds: async ({ line, world }) => {
      const opened = await line()
      opened.hears(quiet(500), world.speech("no thank you"), quiet(200))
      opened.session.finalize()
      await opened.answered(1)
      understood(opened, "no thank you")
    }
  },
  {
    name: "finalize: each is answered exactly once and in order, even if nothing was said",
    holds: async ({ line }) => {
      const opened = await line()
      opened.session.finalize()
      opened.says("yes")
      for (let count = 0; count < 3; count++) opened.session.finalize()
      await opened.answered(4)
      opened.says("no thank you")
      opened.session.finalize()
      await opened.answered(5)
      understood(opened, "", "yes", "", "", "no thank you")
    }
  },
  {
    name: "finalize: its times are those of the audio",
    holds: async ({ line, provider, world }) => {
      if (provider.recognizer(world.config, world).ownsTurns) throw new NotAsked("the turns that it ends have no times")
      const opened = await line()
      opened.hears(quiet(2000), world.speech("no thank you"), quiet(300))
      opened.session.finalize()
      await opened.answered(1)
      const times = opened.events.filter((event): event is Final => event._tag === "Final" && event.text !== "")
      const isRight = times.every(
        ({ fromMillis, untilMillis }) => fromMillis >= 1500 && fromMillis < untilMillis && untilMillis <= opened.millis
      )
      demand(
        times.length > 0 && isRight,
        `times between 1500 and ${opened.millis} ms`,
        () => inWords(times),
        "the transcript and the recording are aligned by them"
      )
    }
  },
  {
    name: "hints: they apply to what is said after them",
    holds: async ({ line }) => {
      const opened = await line()
      opened.says("yes")
      opened.session.finalize()
      await opened.answered(1)
      opened.session.hint({ ...hints, phrases: ["call me back tomorrow", "I have already paid"] })
      opened.says("call me back tomorrow")
      opened.session.finalize()
      await opened.answered(2)
      understood(opened, "yes", "call me back tomorrow")
    }
  },
  {
    name: "failure: speech that cannot be recognized is answered nevertheless, or the session says that it is over",
    holds: async ({ line, world }) => {
      if (world.breakDown === undefined) throw new NotAsked("nothing that it depends on can fail")
      const opened = await line()
      opened.says("yes")
      opened.session.finalize()
      await opened.answered(1)
      world.breakDown()
      opened.says("no thank you")
      opened.session.finalize()
      const isOver = () => opened.events.some(({ _tag }) => _tag === "Failed")
      await opened.until(() => isOver() || opened.forced().length >= 2, "an answer, or Failed")
      opened.session.hint(hints)
    }
  },
  {
    name: "close: it reports nothing any more, and accepts audio that still comes",
    holds: async ({ line, world }) => {
      const [closed, other] = [await line(), await line()]
      closed.says("yes")
      closed.session.finalize()
      await closed.close()
      const told = closed.events.length
      closed.session.write(new Int16Array(frame))
      closed.session.hint(hints)
      closed.session.finalize()
      // The answer of the closed session would have arrived before this one.
      other.hears(quiet(500), world.speech("no thank you"), quiet(200))
      other.session.finalize()
      await other.answered(1)
      demand(
        closed.events.length === told,
        "nothing after the end of the call",
        () => inWords(closed.events.slice(told)),
        "it would be attributed to another callee"
      )
    }
  }
]

export const recognizerConformance = (
  provider: RecognizerProvider,
  openWorld: () => Promise<RecognizerWorld>,
  { patienceMillis = PATIENCE_MILLIS }: Options = {}
): ReadonlyArray<Case> =>
  rules.map(({ holds, name }) => ({
    name,
    run: async () => {
      const world = await openWorld()
      const lines: Array<Line> = []
      const unopened = () => {
        const line = new Line(world, patienceMillis)
        lines.push(line)
        return line
      }
      const line = async () => {
        const opened = unopened()
        const error = await opened.open(provider, hints)
        demand(error === undefined, "a session", () => inWords(error), "without one, the agent hears nothing")
        return opened
      }
      const close = async () => {
        for (const opened of lines) await opened.close()
        await world.close()
      }
      return verdictOf(() => holds({ provider, world, line, unopened }), close)
    }
  }))
