/**
 * Records a call as a stereo WAV: callee left, agent right, PCM16 at 8 kHz. Both sides get a frame at each tick, so the tracks stay
 * aligned. The file is written in blocks of a second at fixed positions during the call. The header has no sizes until the end, and `repair`
 * fills them in if the process died. Uses callbacks throughout: a tick never waits for a write.
 */
import { Effect, Schema } from "effect"
import { close as closeFile, mkdir, open as openFile, write as writeFile } from "node:fs"
import { open } from "node:fs/promises"
import { dirname } from "node:path"
import { ownFile, ownFolder } from "#runtime/storage/ownFiles.ts"
import { decodeSample, frameSize, sampleRate, silence } from "#core/audio/Mulaw.ts"
import type { PcmFrame } from "#core/audio/PcmFrame.ts"
import { channels, headerBytes, makeHeader, open32 } from "./RecordingHeader.ts"

class RecordingBroken extends Schema.TaggedError<RecordingBroken>()("RecordingBroken", { cause: Schema.Defect() }) {
  override get message(): string {
    return "the recording could not be written or read"
  }
}

export interface Recording {
  /** Adds one tick: the callee decoded, the agent in mu-law. Undefined is silence. */
  readonly push: (callee: PcmFrame | undefined, agent: Uint8Array | undefined) => void
  /** Adds this many frames of silence on both sides, for ticks that did not happen. */
  readonly skip: (frames: number) => void
  /** Writes the rest, completes the header, and returns the seconds recorded. Runs once. */
  readonly close: Effect.Effect<number, RecordingBroken>
}

const bytesPerTick = frameSize * channels * 2
const blockTicks = 50
// With this many pending, the disk is 4 s behind, and a second is left out: a hole in the file, which reads as silence and keeps the rest in place.
const maxPendingBlocks = 4

/** Blocks that have been written, for any recording: a new one in each second of each call would be 32 KB of garbage each. */
const spareBlocks: Array<Int16Array<ArrayBuffer>> = []
/** 8 MB: those of 250 calls. */
const mostSpareBlocks = 250
const takeBlock = () => spareBlocks.pop() ?? new Int16Array((blockTicks * bytesPerTick) / 2)
const giveBack = (block: Int16Array<ArrayBuffer>): void => {
  if (spareBlocks.length < mostSpareBlocks) spareBlocks.push(block)
}

/** A file written at fixed positions, with callbacks. The first failure is kept and ends the writing. */
const makeFile = (path: string) => {
  const waiting: Array<() => void> = []
  let file: number | undefined
  let failure: unknown
  let pending = 0
  let whenSettled: (() => void) | undefined

  const settle = () => {
    if (pending === 0) whenSettled?.()
  }
  const done = (error: unknown, written?: () => void) => {
    failure ??= error ?? undefined
    pending--
    written?.()
    settle()
  }
  const put = (bytes: Uint8Array, position: number, written?: () => void) => {
    if (file === undefined || failure !== undefined) return done(undefined, written)
    writeFile(file, bytes, 0, bytes.length, position, (error, length) =>
      done(error ?? (length < bytes.length ? new Error("short write: is the disk full?") : undefined), written)
    )
  }

  pending++
  // A failure here is seen again when the file is opened.
  mkdir(dirname(path), { recursive: true, mode: ownFolder }, () =>
    openFile(path, "w", ownFile, (error, opened) => {
      file = error === null ? opened : undefined
      failure = error ?? undefined
      for (const write of waiting.splice(0)) write()
      done(undefined)
    })
  )

  return {
    pending: () => pending,
    /** `written` is called once the bytes are not needed any more. */
    write: (bytes: Uint8Array, position: number, written?: () => void) => {
      pending++
      if (file === undefined && failure === undefined) waiting.push(() => put(bytes, position, written))
      else put(bytes, position, written)
    },
    /**
     * Closes the file after all writes, `header` last: concurrent writes land in any order, and two of them write the start of the file. An
     * interrupted caller does not close the file during a write.
     */
    close: (header: Uint8Array) =>
      Effect.callback<void, RecordingBroken>((resume) => {
        const finish = () => {
          const outcome = failure === undefined ? Effect.void : Effect.fail(new RecordingBroken({ cause: failure }))
          if (file === undefined) resume(outcome)
          else closeFile(file, () => resume(outcome))
        }
        whenSettled = () => {
          whenSettled = finish
          pending++
          put(header, 0)
        }
        settle()
      })
  }
}

/** Opens the file without waiting for it, and creates its folder if needed. Any failure is reported by `close`. */
export const startRecording = (path: string): Recording => {
  const file = makeFile(path)
  let block = takeBlock()
  let filled = 0
  let position = headerBytes

  const flush = (isLast: boolean) => {
    if (filled === 0) return
    const bytes = new Uint8Array(block.buffer, 0, filled * bytesPerTick)
    if (isLast || file.pending() < maxPendingBlocks) {
      const written = block
      file.write(bytes, position, () => giveBack(written))
      if (!isLast) block = takeBlock()
    }
    position += bytes.length
    filled = 0
  }

  const push: Recording["push"] = (callee, agent) => {
    let at = filled * frameSize * channels
    for (let sample = 0; sample < frameSize; sample++) {
      block[at++] = callee === undefined ? 0 : (callee.samples[sample] ?? 0)
      block[at++] = agent === undefined ? 0 : decodeSample(agent[sample] ?? silence)
    }
    filled++
    if (filled === blockTicks) flush(false)
  }

  file.write(makeHeader(open32), 0)
  return {
    push,
    skip: (frames) => {
      for (let frame = 0; frame < frames; frame++) push(undefined, undefined)
    },
    close: Effect.suspend(() => {
      flush(true)
      const dataBytes = position - headerBytes
      return Effect.as(file.close(makeHeader(dataBytes)), ((dataBytes / bytesPerTick) * frameSize) / sampleRate)
    })
  }
}

/**
 * Completes the header of a recording whose process died, from the size of the file. False when the header was already right. Fails when the
 * file is not one of our recordings.
 */
export const repair = Effect.fn("Recording.repair")(function* (path: string) {
  const file = yield* Effect.acquireRelease(
    attempt(() => open(path, "r+")),
    (opened) => Effect.promise(() => opened.close())
  )
  const header = Buffer.alloc(headerBytes)
  const { bytesRead } = yield* attempt(() => file.read(header, 0, headerBytes, 0))
  const { size } = yield* attempt(() => file.stat())
  const isOurs = bytesRead === headerBytes && header.toString("latin1", 0, 4) === "RIFF" && header.toString("latin1", 36, 40) === "data"
  if (!isOurs) return yield* new RecordingBroken({ cause: "no header of a recording" })
  // The last block may have been cut off anywhere.
  const dataBytes = size - headerBytes - ((size - headerBytes) % (channels * 2))
  if (header.readUInt32LE(40) === dataBytes) return false
  yield* attempt(() => file.truncate(headerBytes + dataBytes))
  yield* attempt(() => file.write(makeHeader(dataBytes), 0, headerBytes, 0))
  return true
}, Effect.scoped)

const attempt = <A>(act: () => Promise<A>) => Effect.tryPromise({ try: act, catch: (cause) => new RecordingBroken({ cause }) })
