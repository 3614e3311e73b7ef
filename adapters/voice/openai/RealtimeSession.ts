/**
 * A call that OpenAI transcribes over a websocket, while callees speak: https://platform.openai.com/docs/guides/realtime-transcription. The engine
 * decides when turns end, and asks for the text with a commit.
 */
import { encode, frameMillis } from "#core/audio/Mulaw.ts"
import type { ModelError } from "#core/model/LanguageModel.ts"
import type { RecognizerEvent, RecognizerHints } from "#core/model/SpeechToText.ts"
import { textAt } from "#adapters/shared/Json.ts"
import type { ServiceSession } from "#adapters/voice/shared/hostedRecognizer.ts"
import { broken, midStream, timedOut } from "#adapters/voice/shared/modelErrors.ts"
import { PassageSession } from "#adapters/voice/shared/PassageSession.ts"
import type { ServiceSocket } from "#adapters/voice/shared/ServiceSocket.ts"
import { languageOf, promptOf } from "./hints.ts"
import { saidIn } from "./inventions.ts"

/** A commit of less is refused. */
const LEAST_FRAMES = 100 / frameMillis
const named = "conversation.item.input_audio_transcription"

const clear = JSON.stringify({ type: "input_audio_buffer.clear" })
const commit = JSON.stringify({ type: "input_audio_buffer.commit" })

interface Settings {
  readonly model: string
  /** Empty: the agent's. */
  readonly language: string
  /** A text that has not come by then fails the session. */
  readonly patienceMillis: number
}

const setupOf = ({ language, model }: Settings, hints: RecognizerHints): string => {
  const prompt = promptOf(hints)
  // This model has none.
  const terms = prompt === "" || model === "gpt-realtime-whisper" ? {} : { prompt }
  const transcription = { model, language: languageOf(language, hints), ...terms }
  const input = { format: { type: "audio/pcmu" }, transcription, turn_detection: null }
  return JSON.stringify({ type: "session.update", session: { type: "transcription", audio: { input } } })
}

const isEmptyCommit = (message: unknown): boolean => textAt(message, "error", "code") === "input_audio_buffer_commit_empty"

/** A session lasts 30 or 60 minutes: the next one goes on. Errors that the service would survive are rare, and what was said is not lost with it. */
export const realtimeErrorIn = (message: unknown, sent: string): ModelError | undefined => {
  const type = textAt(message, "type")
  if (type !== `${named}.failed` && (type !== "error" || isEmptyCommit(message))) return undefined
  const isExpired = textAt(message, "error", "code") === "session_expired"
  return isExpired ? broken("the service reports session_expired") : midStream(message, sent)
}

export class RealtimeSession extends PassageSession implements ServiceSession {
  readonly #socket: ServiceSocket
  readonly #settings: Settings
  /** Whoever waits for a text: before its item is known, in order, and after that by item. */
  #committed: Array<(text: string) => void> = []
  readonly #items = new Map<string, (text: string) => void>()
  /** What is known of the texts to come, by item. */
  readonly #partial = new Map<string, string>()
  #setup = ""
  #prompt = ""
  /** How much the service has heard since the last commit. */
  #frames = 0

  constructor(socket: ServiceSocket, emit: (event: RecognizerEvent) => void, hints: RecognizerHints, settings: Settings) {
    super(emit, settings.patienceMillis)
    this.#socket = socket
    this.#settings = settings
    this.hint(hints)
  }

  hint(hints: RecognizerHints): void {
    const setup = setupOf(this.#settings, hints)
    if (setup !== this.#setup) this.#socket.send(setup)
    this.#setup = setup
    this.#prompt = promptOf(hints)
  }

  hear(message: unknown): void {
    if (this.isOver) return
    const type = textAt(message, "type")
    if (isEmptyCommit(message)) return this.#committed.shift()?.("")
    const item = textAt(message, "item_id") ?? ""
    if (type === "input_audio_buffer.committed") {
      const waiting = this.#committed.shift()
      if (waiting !== undefined) this.#items.set(item, waiting)
    } else if (type === `${named}.delta`) this.#guess(item, textAt(message, "delta") ?? "")
    else if (type === `${named}.completed`) {
      this.#partial.delete(item)
      this.#items.get(item)?.(textAt(message, "transcript") ?? "")
      this.#items.delete(item)
    }
  }

  protected pass(samples: Int16Array): void {
    this.#frames++
    this.#socket.send(JSON.stringify({ type: "input_audio_buffer.append", audio: Buffer.from(encode(samples)).toString("base64") }))
  }

  protected drop(): void {
    this.#frames = 0
    this.#partial.clear()
    this.#socket.send(clear)
  }

  /** What is too short to be transcribed is heard with what follows. */
  protected ask(tell: (text: string) => void): void {
    if (this.#frames < LEAST_FRAMES) return tell("")
    this.#frames = 0
    this.#committed.push((text) => tell(saidIn(text, this.#prompt)))
    this.#socket.send(commit)
  }

  protected late(): void {
    this.#socket.fail(timedOut("the text was not there"))
  }

  #guess(item: string, delta: string): void {
    this.#partial.set(item, (this.#partial.get(item) ?? "") + delta)
    const text = saidIn([...this.#partial.values()].join(" "), this.#prompt)
    // It would follow the text that it will replace.
    if (text !== "" && !this.isGoingOn) this.emit({ _tag: "Partial", text })
  }
}
