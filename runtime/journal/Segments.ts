/**
 * Append-only files, one after another. Each is removed once all calls mentioned in it are settled. Nothing here waits for the disk: written
 * lines survive a crash of the process, but not one of the machine.
 */
import { closeSync, existsSync, fstatSync, ftruncateSync, openSync, unlinkSync, writeSync } from "node:fs"
import { join } from "node:path"
import { sealed } from "./JournalLine.ts"

/** The mode bit that a process clears when it closes another's journal. */
const WRITABLE = 0o200
/** At this size, the next segment is started. */
const MAX_BYTES = 1024 * 1024

/** Writes all of `text` at the end of the file, or throws. */
export type Append = (fd: number, text: string) => void

export const append: Append = (fd, text) => {
  const bytes = Buffer.from(text)
  if (writeSync(fd, bytes) !== bytes.length) throw new Error("the disk is full")
}

interface Segment {
  readonly path: string
  readonly fd: number
  size: number
  readonly headerSize: number
  readonly callIds: Set<string>
  readonly open: Set<string>
  /** When the last of its calls was settled, by the caller's clock; undefined while a call is open. */
  settledAt: number | undefined
}

export class Segments {
  readonly #folder: string
  readonly #family: string
  readonly #header: string
  readonly #append: Append
  readonly #segments: Array<Segment> = []
  #current: Segment | undefined
  #count = 0

  constructor(folder: string, family: string, header: string, write: Append) {
    this.#folder = folder
    this.#family = family
    this.#header = header
    this.#append = write
  }

  /** Throws if the line cannot be written. The segment is not written to again; the next line starts a new one. */
  write(callId: string, text: string): void {
    const segment = this.#writable()
    const line = sealed(text)
    segment.callIds.add(callId)
    segment.open.add(callId)
    segment.settledAt = undefined
    this.#put(segment, line)
  }

  /** A line about no call. Throws if it cannot be written. */
  remark(text: string): void {
    this.#put(this.#writable(), sealed(text))
  }

  /** Throws if no segment can be written to. */
  probe(): void {
    this.#writable()
  }

  /**
   * False once another process has closed or removed the current file. Checks the open file rather than its path, which takes a tenth of the
   * time.
   */
  isOpen(): boolean {
    if (this.#current === undefined) return false
    const { mode, nlink } = fstatSync(this.#current.fd)
    return nlink > 0 && (mode & WRITABLE) !== 0
  }

  has(callId: string): boolean {
    return this.#segments.some(({ callIds }) => callIds.has(callId))
  }

  settle(callId: string, now: number): void {
    for (const segment of this.#segments) {
      if (segment.open.delete(callId) && segment.open.size === 0) segment.settledAt = now
    }
  }

  /** The calls in the segments that `prune` removes. */
  old(before: number): ReadonlyArray<string> {
    return this.#oldSegments(before).flatMap(({ callIds }) => [...callIds])
  }

  /** Removes segments whose calls were all settled by `before`, except the current one. */
  prune(before: number): void {
    for (const segment of this.#oldSegments(before)) this.#remove(segment)
  }

  /** Empties the current segment if none of its calls is open. */
  clear(): void {
    const segment = this.#current
    if (segment === undefined || segment.open.size > 0 || segment.size === segment.headerSize) return
    ftruncateSync(segment.fd, segment.headerSize)
    segment.size = segment.headerSize
    segment.callIds.clear()
  }

  close(): void {
    for (const { fd } of this.#segments) closeSync(fd)
    this.#segments.length = 0
    this.#current = undefined
  }

  #oldSegments(before: number): ReadonlyArray<Segment> {
    return this.#segments.filter((one) => one !== this.#current && one.settledAt !== undefined && one.settledAt <= before)
  }

  #writable(): Segment {
    if (this.#current !== undefined && this.#current.size < MAX_BYTES) return this.#current
    const path = join(this.#folder, `${this.#family}.${++this.#count}`)
    const fd = openSync(path, "ax", 0o600)
    const header = sealed(this.#header)
    try {
      this.#append(fd, header)
    } catch (error) {
      closeSync(fd)
      unlinkSync(path)
      throw error
    }
    const headerSize = Buffer.byteLength(header)
    const segment: Segment = { callIds: new Set(), fd, headerSize, open: new Set(), path, settledAt: 0, size: headerSize }
    this.#segments.push(segment)
    this.#current = segment
    return segment
  }

  #put(segment: Segment, line: string): void {
    try {
      this.#append(segment.fd, line)
    } catch (error) {
      // A partial line may have been written, which would make the next line unreadable.
      this.#current = undefined
      throw error
    }
    segment.size += Buffer.byteLength(line)
  }

  #remove(segment: Segment): void {
    this.#segments.splice(this.#segments.indexOf(segment), 1)
    closeSync(segment.fd)
    if (existsSync(segment.path)) unlinkSync(segment.path)
  }
}
