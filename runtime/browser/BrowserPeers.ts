/**
 * The engine's side of the worker thread with the browsers' connections. It starts with the first call, also after it has died, and stops when
 * there has been no call for a while. If it dies, its calls are lost.
 */
import { Effect, FiberSet, type Scope } from "effect"
import { Worker } from "node:worker_threads"
import type { MediaListener, MediaStream } from "#core/provider/Media.ts"
import { frameSize } from "#core/audio/Mulaw.ts"
import { FrameBatch } from "./FrameBatch.ts"
import type { Candidate, FromPeers, IceServer, PeerEnd, PeerSettings, ToPeers } from "./PeerMessages.ts"

const program = new URL("./peerWorker.ts", import.meta.url)
const maxHeapMegabytes = 512
const IDLE_MILLIS = 60_000

/** `crashed`: the worker has died, with all of its connections. */
export type BrowserEnd = PeerEnd | "crashed"

interface BrowserListener {
  readonly answered: (sdp: string) => void
  readonly connected: () => void
  /** Called once, unless the connection was closed here. */
  readonly ended: (how: BrowserEnd) => void
}

export interface BrowserConnection {
  readonly offer: (sdp: string) => void
  readonly candidate: (candidate: Candidate) => void
  readonly isConnected: () => boolean
  readonly stream: MediaStream
  readonly close: () => void
}

export interface BrowserPeers {
  readonly open: (listener: BrowserListener) => BrowserConnection
  /** The worker's thread id; undefined while there is none. */
  readonly threadId: () => number | undefined
  /** Ends the worker. Its calls are lost, as when it crashes. */
  readonly stop: () => void
}

interface Ports {
  readonly settings: PeerSettings
  /** Asked for each connection: the credentials of TURN servers are valid for a limited time. */
  readonly iceServers: () => ReadonlyArray<IceServer>
  readonly warn: (warning: Effect.Effect<void>) => void
}

/** The worker ends with the scope. */
export const makeBrowserPeers = (
  settings: PeerSettings,
  iceServers: Ports["iceServers"]
): Effect.Effect<BrowserPeers, never, Scope.Scope> =>
  Effect.gen(function* () {
    const fork = yield* FiberSet.makeRuntime()
    const peers = new Peers({ settings, iceServers, warn: (warning) => void fork(warning) })
    yield* Effect.addFinalizer(() => Effect.sync(() => peers.stop()))
    return { open: (listener) => peers.open(listener), threadId: () => peers.threadId(), stop: () => peers.stop() }
  })

class Peers {
  readonly #ports: Ports
  readonly #open = new Map<number, Connection>()
  readonly #spoken = new FrameBatch((batch) => this.#post(batch))
  #worker: Worker | undefined
  #idle: NodeJS.Timeout | undefined
  #count = 0

  constructor(ports: Ports) {
    this.#ports = ports
  }

  threadId(): number | undefined {
    return this.#worker?.threadId
  }

  open(listener: BrowserListener): BrowserConnection {
    clearTimeout(this.#idle)
    this.#worker ??= this.#start()
    const id = ++this.#count
    const connection = new Connection(id, listener, {
      iceServers: this.#ports.iceServers(),
      frame: (frame) => this.#spoken.add(id, frame),
      say: (message) => {
        // What was said before comes first.
        this.#spoken.flush()
        this.#post(message)
      },
      closed: () => this.#forget(id)
    })
    this.#open.set(id, connection)
    return connection
  }

  stop(): void {
    clearTimeout(this.#idle)
    const stopped = this.#worker
    if (stopped !== undefined) this.#gone(stopped)
    void stopped?.terminate()
  }

  #start(): Worker {
    // Without the process's flags: a loader among them would be loaded again. Without the environment, which holds secrets.
    const started = new Worker(program, {
      name: "browsers",
      env: {},
      execArgv: [],
      resourceLimits: { maxOldGenerationSizeMb: maxHeapMegabytes },
      workerData: this.#ports.settings
    })
    started.unref()
    started.on("message", (message: FromPeers) => this.#hear(message))
    started.on("error", (error) => {
      this.#ports.warn(Effect.logError("the worker of calls from browsers has failed").pipe(Effect.annotateLogs({ error: error.name })))
      this.#gone(started)
    })
    started.on("exit", () => this.#gone(started))
    return started
  }

  #gone(worker: Worker): void {
    if (this.#worker !== worker) return
    this.#worker = undefined
    const lost = [...this.#open.values()]
    this.#open.clear()
    for (const connection of lost) connection.ended("crashed")
  }

  #forget(id: number): void {
    if (!this.#open.delete(id) || this.#open.size > 0) return
    this.#idle = setTimeout(() => {
      if (this.#open.size === 0) this.stop()
    }, IDLE_MILLIS)
    this.#idle.unref()
  }

  #post(message: ToPeers): void {
    this.#worker?.postMessage(message)
  }

  #hear(message: FromPeers): void {
    switch (message._tag) {
      case "Audio":
        for (const [at, peer] of message.peers.entries())
          this.#open.get(peer)?.hear(message.bytes.subarray(at * frameSize, (at + 1) * frameSize))
        return
      case "Answer":
        return this.#open.get(message.peer)?.answered(message.sdp)
      case "Connected":
        return this.#open.get(message.peer)?.connected()
      case "Ended": {
        const ended = this.#open.get(message.peer)
        this.#forget(message.peer)
        return ended?.ended(message.how)
      }
      case "Troubled":
        return this.#ports.warn(
          Effect.logWarning("a connection to a browser could not handle something").pipe(Effect.annotateLogs({ error: message.error }))
        )
    }
  }
}

interface Means {
  readonly iceServers: ReadonlyArray<IceServer>
  readonly frame: (frame: Uint8Array) => void
  readonly say: (message: ToPeers) => void
  readonly closed: () => void
}

class Connection implements BrowserConnection {
  readonly #id: number
  readonly #listener: BrowserListener
  readonly #means: Means
  #ear: MediaListener | undefined
  #isConnected = false
  #end: BrowserEnd | "closed" | undefined

  constructor(id: number, listener: BrowserListener, means: Means) {
    this.#id = id
    this.#listener = listener
    this.#means = means
  }

  readonly stream: MediaStream = {
    send: (frame) => {
      if (this.#end !== undefined) return false
      this.#means.frame(frame)
      return true
    },
    skip: (frames) => this.#say({ _tag: "Skip", peer: this.id, frames }),
    // Nothing is queued beyond this machine.
    clear: () => {},
    // Nothing reports what has been played.
    mark: () => false,
    listen: (listener) => {
      this.#ear = listener
      if (this.#end !== undefined) this.#silence(this.#end)
    }
  }

  get id(): number {
    return this.#id
  }

  offer(sdp: string): void {
    this.#say({ _tag: "Offer", peer: this.#id, sdp, iceServers: this.#means.iceServers })
  }

  candidate(candidate: Candidate): void {
    this.#say({ _tag: "Candidate", peer: this.#id, candidate })
  }

  isConnected(): boolean {
    return this.#isConnected
  }

  close(): void {
    if (this.#end !== undefined) return
    this.#say({ _tag: "Close", peer: this.#id })
    this.#means.closed()
    this.#over("closed")
  }

  answered(sdp: string): void {
    if (this.#end === undefined) this.#listener.answered(sdp)
  }

  connected(): void {
    if (this.#end !== undefined) return
    this.#isConnected = true
    this.#listener.connected()
  }

  ended(how: BrowserEnd): void {
    if (this.#end !== undefined) return
    this.#over(how)
    this.#listener.ended(how)
  }

  hear(frame: Uint8Array): void {
    if (this.#end === undefined) this.#ear?.frame(frame)
  }

  #over(how: BrowserEnd | "closed"): void {
    this.#end = how
    this.#isConnected = false
    this.#silence(how)
  }

  #silence(how: BrowserEnd | "closed"): void {
    const ear = this.#ear
    this.#ear = undefined
    if (how === "left" || how === "closed") ear?.closed("ended", "the connection was closed")
    else ear?.closed("failed", "the connection is lost")
  }

  #say(message: ToPeers): void {
    if (this.#end === undefined) this.#means.say(message)
  }
}
