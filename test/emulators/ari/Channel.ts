/** A channel as Asterisk shows it, and the list of live channels with Asterisk's rule about taken ids. */
import type { Bridge } from "./Bridges.ts"
import type { Callee } from "#test/emulators/shared/Callee.ts"
import type { Disorder } from "#test/emulators/shared/Disorder.ts"
import { Mouth } from "./Sound.ts"

type ChannelState = "Down" | "Ringing" | "Up"
/** An event that a client gets about a channel. */
export type Told = { readonly type: string; readonly body: object }
type Variables = Readonly<Record<string, string>>

/** `2026-01-01T10:00:00.123+0000`: a numeric offset without a colon. */
export const timestamp = (): string => new Date().toISOString().replace("Z", "+0000")

export type ChannelSettings = {
  readonly id: string
  readonly name: string
  readonly app: string
  readonly appArgs?: string
  readonly number?: string
  readonly callerId?: string
  readonly variables?: Variables
  /** Included in the channel's JSON. */
  readonly channelvars?: Variables
}

export class Channel {
  readonly id: string
  readonly name: string
  /** The application that the channel entered last, with its arguments. */
  app: string
  appArgs: string
  /** The called number; empty for a media channel. */
  readonly number: string
  readonly callerId: string
  readonly variables: Record<string, string>
  readonly channelvars: Variables | undefined
  readonly creationtime = timestamp()
  readonly protocolId = `${Math.random().toString(36).slice(2)}@127.0.0.1`
  state: ChannelState = "Down"
  inStasis = false
  /** Its place in the dialplan; undefined before it has been there. */
  place: { readonly context: string; readonly exten: string; readonly priority: number } | undefined
  dialled = false
  ended = false
  /** Names of the applications that get this channel's events. */
  subscribers: Array<string> = []
  callee: Callee | undefined
  disorder: Disorder<Told> | undefined
  bridge: Bridge | undefined
  readonly mouth = new Mouth()
  #timers: Array<NodeJS.Timeout> = []
  #whenHeard: (() => void) | undefined

  constructor(settings: ChannelSettings) {
    this.id = settings.id
    this.name = settings.name
    this.app = settings.app
    this.appArgs = settings.appArgs ?? ""
    this.number = settings.number ?? ""
    this.callerId = settings.callerId ?? ""
    this.variables = { ...settings.variables }
    this.channelvars = settings.channelvars
  }

  /** The timer is cleared when the channel ends. Node keeps one list per duration, so calls with equal timings are cheap. */
  after(millis: number, run: () => void): void {
    this.#timers.push(setTimeout(run, millis))
  }

  /** Runs once, when the callee first hears something. */
  whenHeard(run: () => void): void {
    this.#whenHeard = run
  }

  heard(): void {
    const run = this.#whenHeard
    this.#whenHeard = undefined
    run?.()
  }

  clearTimers(): void {
    for (const timer of this.#timers) clearTimeout(timer)
    this.#timers = []
  }

  /** The channel as it is at this moment. */
  toJSON(): object {
    const [, name = "", number = this.callerId] = /^\s*"?([^"<]*?)"?\s*<([^>]*)>/.exec(this.callerId) ?? []
    return {
      id: this.id,
      name: this.name,
      state: this.state,
      protocol_id: this.protocolId,
      caller: { name, number },
      connected: { name: "", number: this.state === "Up" ? this.number : "" },
      accountcode: "",
      dialplan: {
        ...(this.place ?? { context: "default", exten: this.number === "" ? "s" : this.number, priority: 1 }),
        app_name: this.inStasis ? "Stasis" : this.place === undefined ? "AppDial2" : "Wait",
        app_data: this.inStasis ? [this.app, this.appArgs].filter(Boolean).join(",") : "(Outgoing Line)"
      },
      creationtime: this.creationtime,
      language: "en",
      ...(this.channelvars === undefined ? {} : { channelvars: this.channelvars })
    }
  }
}

export class Channels {
  #byId = new Map<string, Channel>()
  /** In lower case and sorted, so that the prefix rule costs a binary search instead of a walk over all channels. */
  #ids: Array<string> = []

  get size(): number {
    return this.#byId.size
  }

  get(id: string): Channel | undefined {
    return this.#byId.get(id)
  }

  all(): ReadonlyArray<Channel> {
    return [...this.#byId.values()]
  }

  /** An id is taken if a live one begins with it, ignoring case: next to `abc1`, neither `ABC1` nor `ab` is free, but `abc12` is. */
  isTaken(id: string): boolean {
    const wanted = id.toLowerCase()
    return this.#ids[this.#position(wanted)]?.startsWith(wanted) ?? false
  }

  add(channel: Channel): void {
    this.#byId.set(channel.id, channel)
    const id = channel.id.toLowerCase()
    this.#ids.splice(this.#position(id), 0, id)
  }

  remove(channel: Channel): void {
    if (this.#byId.delete(channel.id)) this.#ids.splice(this.#position(channel.id.toLowerCase()), 1)
  }

  clear(): void {
    for (const channel of this.#byId.values()) {
      channel.ended = true
      channel.clearTimers()
    }
    this.#byId.clear()
    this.#ids = []
  }

  #position(id: string): number {
    let low = 0
    let high = this.#ids.length
    while (low < high) {
      const middle = (low + high) >>> 1
      if ((this.#ids[middle] ?? "") < id) low = middle + 1
      else high = middle
    }
    return low
  }
}
