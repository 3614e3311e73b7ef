/** Writes bodies piece by piece, as fast as the client takes them. */
import { Effect } from "effect"
import type { HttpResponse } from "uWebSockets.js"

interface Open {
  readonly res: HttpResponse
  /** If true, `res` must not be touched any more. */
  readonly isOver: boolean
}

/** Writes a chunk of a body of unknown length. Returns when the socket can take more. */
export const writeChunk = (exchange: Open, chunk: Uint8Array): Effect.Effect<void> =>
  Effect.callback((resume) => {
    const { res } = exchange
    if (exchange.isOver || chunk.byteLength === 0) return resume(Effect.void)
    res.cork(() => {
      if (res.write(chunk)) return resume(Effect.void)
      res.onWritable(() => {
        resume(Effect.void)
        return true
      })
    })
  })

/** Writes a chunk of a body of `total` bytes. Returns when the socket has taken all of it; `done` is called after the last chunk. */
export const write = (exchange: Open, chunk: Uint8Array, total: number, done: () => void): Effect.Effect<void> =>
  Effect.callback((resume) => {
    const { res } = exchange
    if (exchange.isOver) return
    const from = res.getWriteOffset()
    const attempt = (at: number): boolean => {
      const [isTaken, isDone] = res.tryEnd(at === from ? chunk : chunk.subarray(at - from), total)
      if (isDone) done()
      if (isTaken || isDone) resume(Effect.void)
      return isTaken
    }
    res.cork(() => {
      if (!attempt(from)) res.onWritable(attempt)
    })
  })
