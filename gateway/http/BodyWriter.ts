/**
 * Writes the body of an answer, as fast as the client takes it. uWebSockets keeps one `onWritable` handler per answer, and loses one that is set
 * while another runs, which is when a waiting writer continues. So a single handler serves the whole body and calls the writer that waits. It
 * also sends what uWebSockets has buffered, because uWebSockets leaves that to the handler.
 */
import { Effect } from "effect"
import type { HttpResponse } from "uWebSockets.js"

interface Open {
  readonly res: HttpResponse
  /** If true, `res` must no longer be touched. */
  readonly isOver: boolean
  /** The body of the request is not being read. */
  readonly isPaused: boolean
}

/**
 * A piece and its frame fit into the 16 KB that uWebSockets collects inside `cork`. Of a larger piece, this version of uWebSockets can drop the
 * bytes and keep the frame (uNetworking/uWebSockets@6b7f354). Small pieces also bound what it buffers for a slow client.
 */
const pieceBytes = 16_000

export class BodyWriter {
  private readonly open: Open
  /** Called when the socket can take more. */
  private waiting: (() => void) | undefined
  /** Called when what waits now is out. */
  private next: (() => void) | undefined
  private readonly onTaken: () => void

  /** `onTaken` is called when the client has read enough for a waiting writer to continue. */
  constructor(open: Open, onTaken: () => void) {
    this.open = open
    this.onTaken = onTaken
    open.res.onWritable(() => {
      this.goOn()
      return true
    })
  }

  /** Writes a chunk of a body of unknown length, after what is still being written. Returns when the socket can take more. */
  writeChunk(chunk: Uint8Array): Effect.Effect<void> {
    return Effect.callback((resume) => {
      const begin = () => this.writeFrom(chunk, 0, () => resume(Effect.void))
      if (this.waiting === undefined) begin()
      else this.next = begin
    })
  }

  /** Writes a chunk of a body of unknown length, unless something waits for the socket. Returns whether it did. */
  writeNow(chunk: Uint8Array): boolean {
    if (this.open.isOver || this.waiting !== undefined) return false
    this.writeFrom(chunk, 0, () => undefined)
    return true
  }

  /** Writes a part of a body of `total` bytes. Returns when the socket has taken all of it; `done` is called after the last part. */
  writePart(part: Uint8Array, total: number, done: () => void): Effect.Effect<void> {
    return Effect.callback((resume) => {
      const { isOver, res } = this.open
      if (isOver) return
      if (part.byteLength === 0) return resume(Effect.void)
      const start = res.getWriteOffset()
      const attempt = (): void => {
        const [isTaken, isDone] = res.tryEnd(part.subarray(res.getWriteOffset() - start), total)
        if (isDone) done()
        if (isTaken || isDone) resume(Effect.void)
        else this.waiting = attempt
      }
      res.cork(attempt)
    })
  }

  /** Ends an answer to HEAD, whose body would have `total` bytes. Calls `done` when the socket has taken it. */
  endHead(total: number, done: () => void): Effect.Effect<void> {
    return Effect.callback((resume) => {
      const { isOver, res } = this.open
      if (isOver) return
      const attempt = (): void => {
        const [isTaken, isDone] = res.tryEnd("", total)
        if (!isTaken && !isDone) {
          this.waiting = attempt
          return
        }
        if (!isDone) res.endWithoutBody()
        done()
        resume(Effect.void)
      }
      res.cork(attempt)
    })
  }

  /**
   * Must be called every few seconds: uWebSockets closes a full connection after about ten seconds, and has no setting for it. `resume` restarts
   * that timeout; `onWritable` ends it.
   */
  holdOpen(): void {
    const { isPaused, res } = this.open
    res.pause()
    if (!isPaused) res.resume()
  }

  /** `done` is called when the socket can take more. */
  private writeFrom(chunk: Uint8Array, start: number, done: () => void): void {
    // The fiber is about to be interrupted.
    if (this.open.isOver) return
    for (let at = start; at < chunk.byteLength; at += pieceBytes) {
      if (this.isTaken(chunk.subarray(at, at + pieceBytes))) continue
      this.waiting = () => this.writeFrom(chunk, at + pieceBytes, done)
      return
    }
    done()
  }

  /** False: nothing more may be written for now, although the piece has been accepted. */
  private isTaken(piece: Uint8Array): boolean {
    const { res } = this.open
    let isTaken = false
    res.cork(() => {
      isTaken = res.write(piece)
    })
    return isTaken
  }

  private goOn(): void {
    const { waiting } = this
    this.waiting = undefined
    // Uncorking sends what is held.
    this.open.res.cork(() => undefined)
    if (waiting === undefined) return
    this.onTaken()
    waiting()
    if (this.waiting !== undefined) return
    const { next } = this
    this.next = undefined
    next?.()
  }
}
