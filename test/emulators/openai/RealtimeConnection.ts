/** One connection of OpenAI's realtime transcription: https://platform.openai.com/docs/guides/realtime-transcription */
import type { WebSocket } from "ws"
import { decode } from "#core/audio/Mulaw.ts"
import { Gate } from "#test/emulators/shared/Gate.ts"
import { isObject, type Json, jsonIn } from "#test/emulators/shared/json.ts"

/** Audio of the phone's kind, in which turns are not looked for. */
const isRight = ({ audio, type }: Json): boolean => {
  const input = isObject(audio) ? audio["input"] : undefined
  if (type !== "transcription" || !isObject(input)) return false
  const { format, transcription, turn_detection: turns } = input
  return isObject(format) && format["type"] === "audio/pcmu" && isObject(transcription) && turns === null
}

export class RealtimeConnection {
  /** The settings that were sent, in order. */
  readonly setups: Array<Json> = []
  /** Holds transcriptions back. */
  readonly gate = new Gate()
  /** How many bytes were committed, in order. */
  readonly commits: Array<number> = []
  cleared = 0
  /** 100 ms of mu-law: a commit of less is refused. */
  leastBytes = 800
  /** A later transcription comes before the one that is held back. */
  overtakes = false
  closedWith: number | undefined
  readonly #socket: WebSocket
  readonly #heard: (samples: Int16Array) => string
  readonly #isMute: () => boolean
  #audio = Buffer.alloc(0)
  #items = 0

  constructor(socket: WebSocket, heard: (samples: Int16Array) => string, isMute: () => boolean) {
    this.#socket = socket
    this.#heard = heard
    this.#isMute = isMute
    socket.on("message", (data: Buffer) => this.#hear(jsonIn(data.toString())))
    socket.on("close", (code) => {
      this.closedWith = code
    })
    this.tell({ type: "session.created", session: { type: "transcription" } })
  }

  tell(message: object): void {
    if (!this.#isMute()) this.#socket.send(JSON.stringify({ event_id: "event_1", ...message }))
  }

  fail(type: string, code: string, eventId?: unknown): void {
    this.tell({ type: "error", error: { type, code, message: "secret words", event_id: eventId ?? null } })
  }

  close(code: number, reason: string): void {
    this.#socket.close(code, reason)
  }

  #hear(message: unknown): void {
    if (!isObject(message)) return this.fail("invalid_request_error", "invalid_json")
    const { audio, event_id: id, session, type } = message
    if (type === "session.update") {
      if (!isObject(session) || !isRight(session)) return this.fail("invalid_request_error", "invalid_value", id)
      this.setups.push(session)
      return this.tell({ type: "session.updated", session })
    }
    if (type === "input_audio_buffer.append" && typeof audio === "string") {
      this.#audio = Buffer.concat([this.#audio, Buffer.from(audio, "base64")])
    } else if (type === "input_audio_buffer.clear") {
      this.#audio = Buffer.alloc(0)
      this.cleared++
    } else if (type === "input_audio_buffer.commit") this.#commit(id)
    else this.fail("invalid_request_error", "unknown_type", id)
  }

  #commit(id: unknown): void {
    const audio = this.#audio
    this.commits.push(audio.length)
    if (audio.length < this.leastBytes) return this.fail("invalid_request_error", "input_audio_buffer_commit_empty", id)
    this.#audio = Buffer.alloc(0)
    const item_id = `item_${++this.#items}`
    this.tell({ type: "input_audio_buffer.committed", item_id, previous_item_id: this.#items === 1 ? null : `item_${this.#items - 1}` })
    const text = this.#heard(decode(audio))
    const about = { item_id, content_index: 0 }
    const transcribed = () => {
      const named = "conversation.item.input_audio_transcription"
      for (const delta of text.split(/(?= )/)) this.tell({ type: `${named}.delta`, ...about, delta })
      this.tell({ type: `${named}.completed`, ...about, transcript: text, usage: { type: "tokens", total_tokens: 9 } })
    }
    if (this.overtakes) transcribed()
    else this.gate.pass(transcribed)
  }
}
