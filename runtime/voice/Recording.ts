/**
 * Records a call as a stereo WAV: callee left, agent right, PCM16 at 8 kHz. Each tick adds a frame to both sides, and late frames of the callee
 * are still put in their place, so the tracks stay aligned. The file is written in one-second blocks at fixed positions during the call. The
 * header has no sizes until the end, and `repair` fills them in if the process died. Uses callbacks throughout: a tick never waits for a write.
 */
import { Effect, Schema } from "effect"
import { close as closeFile, mkdir, open as openFile, write as writeFile } from "node:fs"
import { open } from "node:fs/promises"
import { dirname } from "node:path"
import { ownFile, ownFolder } from "#runtime/storage/ownFiles.ts"
import { decodeSample, frameSize, sampleRate, silence } from "#core/audio/Mulaw.ts"
import type { Arrivals } from "./Inbound.ts"
import { channels, headerBytes, makeHeader, open32 } from "./RecordingHeader.ts"

class RecordingBroken extends Schema.TaggedError<RecordingBroken>()("RecordingBroken", { cause: Schema.Defect() }) {
  override get message(): string {
    return "the recording could not be written or read"
  }
}

export interface Recording {
  /** Takes the callee's side from here at each tick. */
  readonly hear: (callee: Arrivals) => void
  /** Adds one tick in which this frame was sent. */
  readonly push: (agent: Uint8Array) => void
  /** Adds this many ticks that did not happen: the agent was silent, and the callee's frames may still arrive. */
  readonly skip: (frames: number) => void
  /** Writes the rest, completes the header, and returns the seconds recorded. Runs once. */
  readonly close: Effect.Effect<number, RecordingBroken>
}

const bytesPerTick = frameSize * channels * 2
const samplesPerTick = frameSize * channels
const blockTicks = 50
/** How far back the callee's track may still be filled. */
const lateTicks = 10
// With this many pending, the disk is 4 s behind, and a second is left out: a hole in the file, which reads as silence and keeps the rest in
// place.
const maxPendingBlocks = 4

/** Written blocks, for reuse by any recording: a new one for each second of each call would be 38 KB of garbage each. */
const spareBlocks: Array<Int16Array<ArrayBuffer>> = []
/** 10 MB: the blocks of 250 calls. */
const mostSpareBlocks = 250
const takeBlock = () => spareBlocks.pop() ?? new Int16Array((blockTicks + lateTicks) * samplesPerTick)
const giveBack = (block: Int16Array<ArrayBuffer>): void => {
  if (spareBlocks.length < mostSpareBlocks) spareBlocks.push(block)
}

/** A file written at fixed positions, with callbacks. The first failure is kept and stops the writing. */
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
    /** `written` is called once the bytes are no longer needed. */
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
  let callee: Arrivals | undefined
  let block = takeBlock()
  let filled = 0
  let position = headerBytes
  /** Ticks at the end of the track that have no frame of the callee. */
  let unheard = 0

  /** Writes the first ticks of the block. */
  const flush = (ticks: number) => {
    if (ticks === 0) return
    const bytes = new Uint8Array(block.buffer, 0, ticks * bytesPerTick)
    const written = block
    const isLast = ticks === filled
    const isWritten = isLast || file.pending() < maxPendingBlocks
    if (isWritten && !isLast) block = takeBlock()
    block.set(written.subarray(ticks * samplesPerTick, filled * samplesPerTick))
    if (isWritten) file.write(bytes, position, () => giveBack(written))
    position += bytes.length
    filled -= ticks
  }

  /** The newest frame belongs to the current tick, and earlier frames to the preceding ticks that are still empty. */
  const place = () => {
    unheard = Math.min(unheard + 1, lateTicks)
    const frames = Math.min(callee?.waiting() ?? 0, unheard)
    for (let tick = filled - frames; tick < filled; tick++) {
      const samples = callee?.take()?.samples
      for (let sample = 0; sample < frameSize; sample++) block[(tick * frameSize + sample) * channels] = samples?.[sample] ?? 0
    }
    if (frames > 0) unheard = 0
  }

  const push = (agent?: Uint8Array) => {
    if (filled === blockTicks + lateTicks) flush(blockTicks)
    let at = filled * samplesPerTick
    for (let sample = 0; sample < frameSize; sample++) {
      block[at++] = 0
      block[at++] = agent === undefined ? 0 : decodeSample(agent[sample] ?? silence)
    }
    filled++
    place()
  }

  file.write(makeHeader(open32), 0)
  return {
    hear: (arrivals) => {
      callee = arrivals
    },
    push,
    skip: (frames) => {
      for (let frame = 0; frame < frames; frame++) push()
    },
    close: Effect.suspend(() => {
      flush(filled)
      const dataBytes = position - headerBytes
      return Effect.as(file.close(makeHeader(dataBytes)), ((dataBytes / bytesPerTick) * frameSize) / sampleRate)
    })
  }
}

/**
 * Completes the header of a recording whose process died, from the size of the file. False if the header was already right. Fails if the file is
 * not one of our recordings.
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
