/**
 * Two connections to Redis, and whether they work: a beat is written and published every second, and must come back by the subscriber. While it
 * does not, nothing else is sent, so that nothing piles up in a Redis that is frozen or slow, and nobody waits for it.
 */
import { createHash, randomUUID } from "node:crypto"
import type { SteadyMillis } from "#core/SteadyTime.ts"
import { type Client, reasonOf } from "./clients.ts"

/** A beat that has not come back for this long: messages do not arrive. */
const SILENT_MILLIS = 2500
/** A connection without a sign for this long is opened again: its other end may have vanished. */
const LOST_MILLIS = 5000
/** How long the first connection may take before it is said that there is none. */
const PATIENCE_MILLIS = 2000

export interface Script {
  readonly lua: string
  readonly sha: string
}
export const script = (lua: string): Script => ({ lua, sha: createHash("sha1").update(lua).digest("hex") })

/** Written, so that a Redis that is full or read-only counts as away. */
const beatScript = script(`redis.call("SET", KEYS[1], "1", "PX", 10000)
redis.call("PUBLISH", ARGV[1], ARGV[2])`)

/** `why` is for operators, and repeats no password. */
export type LinkState = { readonly _tag: "Up" } | { readonly _tag: "Down"; readonly since: SteadyMillis; readonly why: string }

interface Means {
  readonly commands: Client
  readonly subscriber: Client
  readonly prefix: string
  readonly now: () => SteadyMillis
  /** Called once per outage, and once it is over, with how long it took. */
  readonly onDown: (why: string) => void
  readonly onUp: (downMillis: number) => void
}

export interface Subscription {
  /** Resolves once messages arrive. */
  readonly begun: Promise<unknown>
  readonly end: () => void
}

export class Link {
  readonly counts = { commandsFailed: 0, reconnects: 0 }
  /** Begins each message, so that an engine does not hear itself. */
  readonly #id = randomUUID()
  readonly #listeners = new Map<string, Set<(text: string) => void>>()
  readonly #means: Means
  readonly #beganAt: SteadyMillis
  #state: LinkState
  #isTold = false
  #answeredAt: SteadyMillis
  #heardAt = Number.NEGATIVE_INFINITY
  /** When the subscriber was opened. */
  #subscribedAt: SteadyMillis
  /** The last error of a connection since the last answer. */
  #trouble: string | undefined

  constructor(means: Means) {
    const { commands, now, subscriber } = means
    this.#means = means
    this.#beganAt = this.#answeredAt = this.#subscribedAt = now()
    this.#state = { _tag: "Down", since: this.#beganAt, why: "not connected yet" }
    for (const client of [commands, subscriber]) {
      let times = 0
      client.on("ready", () => void (times++ > 0 && this.counts.reconnects++))
      client.on("error", (error: unknown) => {
        this.#trouble = reasonOf(error)
      })
    }
    subscriber.on("message", (channel: string, message: string) => this.#hear(channel, message))
    // It subscribes again by itself only to what it has once been subscribed to: a user may have had no permission.
    subscriber.on("ready", () => void subscriber.subscribe(this.#beatChannel, ...this.#listeners.keys()).catch(() => {}))
  }

  readonly state = (): LinkState => this.#state
  readonly isUp = (): boolean => this.#state._tag === "Up"

  /** Sends it if Redis works, and forgets about it. */
  publish(channel: string, text: string): void {
    const { commands, prefix } = this.#means
    if (!this.isUp()) return void this.counts.commandsFailed++
    commands.publish(`${prefix}${channel}`, `${this.#id} ${text}`).catch((error: unknown) => this.#failed(error))
  }

  /** `heard` is called with what other engines publish. */
  subscribe(channel: string, heard: (text: string) => void): Subscription {
    const { prefix, subscriber } = this.#means
    const name = `${prefix}${channel}`
    const listeners = this.#listeners.get(name) ?? new Set()
    this.#listeners.set(name, listeners)
    listeners.add(heard)
    return {
      begun: subscriber.subscribe(name).catch(() => {}),
      end: () => {
        listeners.delete(heard)
        if (listeners.size > 0 || this.#listeners.get(name) !== listeners) return
        this.#listeners.delete(name)
        subscriber.unsubscribe(name).catch(() => {})
      }
    }
  }

  /** Rejects at once while Redis is away. The keys share the tag, so that they are on one node of a cluster. */
  async evaluate(what: Script, tag: string, names: ReadonlyArray<string>, args: ReadonlyArray<string | number>): Promise<unknown> {
    if (!this.isUp()) {
      this.counts.commandsFailed++
      throw new Error("Redis is away")
    }
    try {
      return await this.#run(what, tag, names, args)
    } catch (error) {
      this.#failed(error)
      throw error
    }
  }

  async beat(): Promise<void> {
    const { now } = this.#means
    try {
      await this.#run(beatScript, "alive", [this.#id], [this.#beatChannel, this.#id])
      this.#answeredAt = now()
      if (now() - this.#heardAt <= SILENT_MILLIS) this.#up()
      else this.#down(this.#trouble ?? "messages do not arrive")
    } catch (error) {
      const isConnected = this.#means.commands.status === "ready"
      if (isConnected) this.counts.commandsFailed++
      this.#down(isConnected ? reasonOf(error) : (this.#trouble ?? "no connection"))
    }
    this.#reopenLost()
  }

  close(): void {
    this.#means.commands.disconnect()
    this.#means.subscriber.disconnect()
  }

  get #beatChannel(): string {
    return `${this.#means.prefix}alive:${this.#id}`
  }

  #hear(channel: string, message: string): void {
    if (channel === this.#beatChannel) {
      this.#heardAt = this.#means.now()
      return
    }
    const [sender = ""] = message.split(" ", 1)
    if (sender === this.#id) return
    for (const heard of this.#listeners.get(channel) ?? []) heard(message.slice(sender.length + 1))
  }

  async #run({ lua, sha }: Script, tag: string, names: ReadonlyArray<string>, args: ReadonlyArray<string | number>): Promise<unknown> {
    const { commands, prefix } = this.#means
    const keys = names.map((name) => `${prefix}{${tag}}:${name}`)
    try {
      return await commands.evalsha(sha, keys.length, ...keys, ...args)
    } catch (error) {
      // It forgets scripts when it starts.
      if (!reasonOf(error).startsWith("NOSCRIPT")) throw error
      return commands.eval(lua, keys.length, ...keys, ...args)
    }
  }

  /** What Redis answers is for the next beat to judge; without an answer, it is away. */
  #failed(error: unknown): void {
    this.counts.commandsFailed++
    if (!(error instanceof Error && error.name === "ReplyError")) this.#down(reasonOf(error))
  }

  #up(): void {
    this.#trouble = undefined
    if (this.#state._tag === "Up") return
    const { now, onUp } = this.#means
    const downMillis = now() - this.#state.since
    this.#state = { _tag: "Up" }
    this.#isTold = false
    onUp(downMillis)
  }

  #down(why: string): void {
    const { now, onDown } = this.#means
    this.#state = { _tag: "Down", since: this.#state._tag === "Down" ? this.#state.since : now(), why }
    const isEarly = this.#trouble === undefined && now() - this.#beganAt < PATIENCE_MILLIS
    if (this.#isTold || isEarly) return
    this.#isTold = true
    onDown(why)
  }

  #reopenLost(): void {
    const { commands, now, subscriber } = this.#means
    if (now() - this.#answeredAt > LOST_MILLIS) {
      this.#answeredAt = now()
      reopen(commands)
    } else if (now() - Math.max(this.#heardAt, this.#subscribedAt) > LOST_MILLIS) {
      this.#subscribedAt = now()
      reopen(subscriber)
    }
  }
}

/** One that is being opened has its own timeouts. */
const reopen = (client: Client): void => {
  if (client.status === "ready" || client.status === "connect") client.disconnect(true)
}
