/** A streamed request body. The socket is paused while the reader lags, so that little is held in memory. */
import { Cause, Effect, Queue, Stream } from "effect"
import { BodyTooLarge } from "./Endpoint.ts"

const heldBytes = 262_144

/** The socket that the bytes come from. */
interface Tap {
  readonly pause: () => void
  readonly resume: () => void
}

interface BodyStream {
  readonly stream: Stream.Stream<Uint8Array, BodyTooLarge>
  /** Copies the chunk. False: it exceeds the limit, and the stream has failed. */
  readonly push: (chunk: ArrayBuffer, isLast: boolean) => boolean
}

export const bodyStream = (limit: number, tap: Tap): BodyStream => {
  const queue = Effect.runSync(Queue.unbounded<Uint8Array, BodyTooLarge | Cause.Done>())
  let received = 0
  let held = 0
  let isPaused = false
  return {
    stream: Stream.fromQueue(queue).pipe(
      Stream.tap((chunk) =>
        Effect.sync(() => {
          held -= chunk.byteLength
          if (!isPaused || held > heldBytes / 2) return
          isPaused = false
          tap.resume()
        })
      )
    ),
    push: (chunk, isLast) => {
      received += chunk.byteLength
      if (received > limit) {
        Queue.failCauseUnsafe(queue, Cause.fail(new BodyTooLarge({ limit })))
        return false
      }
      if (chunk.byteLength > 0) {
        held += chunk.byteLength
        Queue.offerUnsafe(queue, new Uint8Array(chunk.slice(0)))
      }
      if (isLast) Queue.endUnsafe(queue)
      else if (held > heldBytes && !isPaused) {
        isPaused = true
        tap.pause()
      }
      return true
    }
  }
}
