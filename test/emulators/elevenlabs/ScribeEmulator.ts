/** ElevenLabs' `/v1/speech-to-text/realtime`, with commits on request. */
import type { IncomingHttpHeaders } from "node:http"
import { Ear, mulawIn } from "#test/emulators/shared/ears.ts"
import { isObject, jsonIn } from "#test/emulators/shared/json.ts"
import { type Hearer, RecognizerEmulator } from "#test/emulators/shared/RecognizerEmulator.ts"

/** A commit of less audio is ignored: https://github.com/elevenlabs/packages/issues/378 */
const leastFrames = 15

export class ScribeEmulator extends RecognizerEmulator {
  readonly key = "xi-0123456789abcdef"

  /** Says an error, which quotes what it should not, and closes all connections. */
  reportError(message_type: string): void {
    this.report({ message_type, error: `secret words, ${this.key}` })
    this.closeAll(1008, `secret words, ${this.key}`)
  }

  protected refusalOf({ pathname, searchParams }: URL) {
    const fails = (status: number, detail: string) => ({ status, body: { detail: { status: detail, message: "No." } } })
    if (pathname !== "/v1/speech-to-text/realtime") return fails(404, "not_found")
    const isKnown = searchParams.get("audio_format") === "ulaw_8000" && searchParams.get("commit_strategy") === "manual"
    return isKnown ? undefined : fails(422, "invalid_parameters")
  }

  protected hearerOf(
    { headers }: { readonly headers: IncomingHttpHeaders },
    tell: (message: object) => void,
    close: (code: number) => void
  ): Hearer {
    const fails = (message_type: string, error: string) => {
      tell({ message_type, error })
      close(1008)
    }
    if (headers["xi-api-key"] !== this.key) fails("auth_error", `Not a key: ${headers["xi-api-key"]}`)
    else tell({ message_type: "session_started", session_id: "1", config: {} })
    const ear = new Ear(this.speech, { hasInterim: true }, ({ isFinal, text }) =>
      tell({ message_type: isFinal ? "committed_transcript" : "partial_transcript", text })
    )
    return {
      text: (text) => {
        const message = jsonIn(text)
        if (!isChunk(message)) {
          fails("input_error", "Not a chunk")
          return undefined
        }
        const frames = ear.hear(mulawIn(Buffer.from(message.audio_base_64, "base64")))
        if (!message.commit || !this.answersFinalize) return frames
        if (ear.newFrames >= leastFrames) ear.finish(true)
        else tell({ message_type: "commit_throttled", error: "Commit request ignored" })
        return frames
      }
    }
  }
}

const isChunk = (message: unknown): message is { readonly audio_base_64: string; readonly commit: boolean } =>
  isObject(message) &&
  message["message_type"] === "input_audio_chunk" &&
  message["sample_rate"] === 8000 &&
  typeof message["audio_base_64"] === "string" &&
  typeof message["commit"] === "boolean"
