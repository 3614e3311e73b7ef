/** Recognizers that are reached by a websocket. Their adapters only say what is sent, and what the messages of the service mean. */
import { Effect, type Scope } from "effect"
import type { ModelError } from "#core/model/LanguageModel.ts"
import type { RecognizerEvent, RecognizerSession } from "#core/model/SpeechToText.ts"
import { openSocket, type ServiceSocket, type SocketSettings } from "./ServiceSocket.ts"

/** Emits nothing after `close`. */
export interface ServiceSession extends RecognizerSession {
  /** A text message of the service, parsed; undefined if it is not JSON. Unknown ones must change nothing. */
  readonly hear: (message: unknown) => void
  /** The call is over, or the session has failed. */
  readonly close: () => void
}

/** The session is begun once the service can be written to. What the service says before that is lost, unless it is an error. */
export const openSession = (
  settings: SocketSettings,
  emit: (event: RecognizerEvent) => void,
  begin: (socket: ServiceSocket) => ServiceSession
): Effect.Effect<RecognizerSession, ModelError, Scope.Scope> =>
  Effect.gen(function* () {
    let session: ServiceSession | undefined
    const socket = yield* openSocket(settings, {
      text: (message) => session?.hear(message),
      failed: (error) => {
        session?.close()
        emit({ _tag: "Failed", error })
      }
    })
    session = yield* Effect.acquireRelease(
      Effect.sync(() => begin(socket)),
      (opened) => Effect.sync(() => opened.close())
    )
    return session
  })
