/**
 * Shares the thread among the organizations whose servers send us something: events, replies, the tokens of language models. The thread also sends the
 * audio of all calls, a frame every 20 ms for each, so what arrives is handled in small pieces, for about a millisecond in one turn of the event
 * loop, and for each organization during a quarter of the time. Organizations take turns, and so do the sockets of one.
 *
 * Nothing is lost: what has to wait stays in its socket, which is not read meanwhile, so TCP stops the sender. A socket is regulated where it hands its
 * bytes to its stream, below TLS's and websockets' own buffers, because one read can hold ten thousand messages.
 */
import { Pace } from "#core/load/Pace.ts"
import type { Incoming, Kind } from "#core/egress/Egress.ts"

/** In one turn of the event loop, of all organizations together. */
const SLICE_MILLIS = 1
/** One organization's share of the thread. */
const share = { burst: 250, perSecond: 250 }
/** What one call's audio may have without waiting: about twice what a callee says. */
const audio = { burst: 4096, perSecond: 16_384 }
/** Small, because it is handled as a whole: it holds up to 250 messages. */
const PIECE_BYTES = 512
/** The thread itself may have to wait for a processor, which must not count as work. */
const LONGEST_PIECE_MILLIS = 20
/** An organization that is held back for so long is reported, and then again after as long. */
const REPORT_MILLIS = 60_000

interface IntakeOptions<Owner> {
  /** An organization has sent more than its share for a minute. */
  readonly report: (owner: Owner) => void
  /** Monotonic milliseconds. */
  readonly now?: () => number
}

export class Intake<Owner> {
  readonly #report: (owner: Owner) => void
  readonly #now: () => number
  readonly #pace = new Pace<Owner>(share)
  readonly #audio = new Pace<PacedSocket<Owner>>(audio)
  readonly #known = new WeakSet<Incoming>()
  /** Sockets with bytes that wait; the organization that was served last comes last. */
  readonly #waiting = new Map<Owner, Set<PacedSocket<Owner>>>()
  /** Organizations that have used up their share. */
  readonly #resting = new Set<Owner>()
  /** Since when they have been resting again and again, with more to come each time. */
  readonly #busySince = new Map<Owner, number>()
  #spentMillis = 0
  #isTurnAhead = false

  constructor({ now = () => performance.now(), report }: IntakeOptions<Owner>) {
    this.#report = report
    this.#now = now
  }

  pace(owner: Owner, socket: Incoming, kind: Kind = "other"): void {
    if (this.#known.has(socket)) return
    this.#known.add(socket)
    const paced = new PacedSocket(this, owner, kind, socket)
    socket.once("close", () => {
      paced.drop()
      this.#forget(paced)
    })
  }

  /** Whether the organization's next piece may be handled now, without waiting for its turn. */
  isFree(owner: Owner): boolean {
    return this.#spentMillis < SLICE_MILLIS && !this.#waiting.has(owner) && !this.#resting.has(owner)
  }

  /** Whether so much audio is no more than what is spoken. */
  isSpoken(socket: PacedSocket<Owner>, bytes: number): boolean {
    return this.#audio.takes(socket, bytes, this.#now())
  }

  /** The socket has bytes for whose turn it waits. */
  wait(socket: PacedSocket<Owner>): void {
    const sockets = this.#waiting.get(socket.owner) ?? new Set()
    sockets.add(socket)
    this.#waiting.set(socket.owner, sockets)
    this.#scheduleTurn()
  }

  /** Counts what `handle` takes. */
  counted(owner: Owner, handle: () => boolean): boolean {
    const began = this.#now()
    try {
      return handle()
    } finally {
      const now = this.#now()
      const took = Math.min(now - began, LONGEST_PIECE_MILLIS)
      this.#spentMillis += took
      this.#scheduleTurn()
      const rest = this.#pace.take(owner, took, now)
      if (rest > 0 && !this.#resting.has(owner)) this.#rest(owner, rest, now)
    }
  }

  #rest(owner: Owner, millis: number, now: number): void {
    this.#resting.add(owner)
    const since = this.#busySince.get(owner) ?? now
    this.#busySince.set(owner, now - since < REPORT_MILLIS ? since : now)
    if (now - since >= REPORT_MILLIS) this.#report(owner)
    setTimeout(() => {
      this.#resting.delete(owner)
      if (this.#waiting.has(owner)) this.#scheduleTurn()
      else this.#busySince.delete(owner)
    }, millis)
  }

  #scheduleTurn(): void {
    if (this.#isTurnAhead) return
    this.#isTurnAhead = true
    setImmediate(() => this.#turn())
  }

  #turn(): void {
    this.#isTurnAhead = false
    this.#spentMillis = 0
    while (this.#spentMillis < SLICE_MILLIS) {
      const socket = this.#next()
      if (socket === undefined) return
      if (socket.handle()) this.wait(socket)
    }
    if (this.#waiting.size > 0) this.#scheduleTurn()
  }

  #next(): PacedSocket<Owner> | undefined {
    for (const [owner, sockets] of this.#waiting) {
      if (this.#resting.has(owner)) continue
      const [socket] = sockets
      if (socket === undefined) continue
      sockets.delete(socket)
      this.#waiting.delete(owner)
      // Last in line from now on.
      if (sockets.size > 0) this.#waiting.set(owner, sockets)
      return socket
    }
    return undefined
  }

  #forget(socket: PacedSocket<Owner>): void {
    const sockets = this.#waiting.get(socket.owner)
    sockets?.delete(socket)
    if (sockets?.size === 0) this.#waiting.delete(socket.owner)
  }
}

/** Stands between a socket and its stream. The stream asks for bytes by `_read`, and is given them by `push`. */
class PacedSocket<Owner> {
  readonly owner: Owner
  readonly #intake: Intake<Owner>
  readonly #isAudio: boolean
  readonly #give: (bytes: unknown) => boolean
  readonly #readOn: (size: number) => void
  /** What has arrived and waits; `null`, the end, comes last. */
  #held: Array<Uint8Array | null> = []
  /** The stream has room. */
  #isWanted = true

  constructor(intake: Intake<Owner>, owner: Owner, kind: Kind, socket: Incoming) {
    this.#intake = intake
    this.#isAudio = kind === "audio"
    this.owner = owner
    this.#give = socket.push.bind(socket)
    this.#readOn = socket._read.bind(socket)
    socket.push = (bytes) => this.#arrived(bytes)
    socket._read = (size) => this.#asked(size)
  }

  /** Returning false stops the reading of the socket. */
  #arrived(bytes: unknown): boolean {
    if (this.#held.length === 0) {
      if (!(bytes instanceof Uint8Array)) return this.#give(bytes)
      if (this.#isAudio && this.#intake.isSpoken(this, bytes.length)) return this.#give(bytes)
      if (bytes.length <= PIECE_BYTES && this.#intake.isFree(this.owner)) return this.#handled(bytes)
    }
    // A socket hands over bytes, and at last `null`.
    this.#held.push(bytes as Uint8Array | null)
    if (this.#isWanted) this.#intake.wait(this)
    return false
  }

  #asked(size: number): void {
    this.#isWanted = true
    if (this.#held.length === 0) this.#readOn(size)
    else this.#intake.wait(this)
  }

  /** Handles the next piece. True: it waits for another turn. */
  handle(): boolean {
    const [first] = this.#held
    if (first === undefined) return false
    const piece = first?.subarray(0, PIECE_BYTES) ?? null
    const isAll = first === null || first.length <= PIECE_BYTES
    if (isAll) this.#held.shift()
    else this.#held[0] = first.subarray(PIECE_BYTES)
    this.#handled(piece)
    if (this.#held.length > 0) return this.#isWanted
    if (this.#isWanted) this.#readOn(0)
    return false
  }

  #handled(piece: Uint8Array | null): boolean {
    // The stream may ask for more while it handles this.
    this.#isWanted = false
    const hasRoom = this.#intake.counted(this.owner, () => this.#give(piece))
    this.#isWanted ||= hasRoom
    return hasRoom
  }

  drop(): void {
    this.#held = []
  }
}
