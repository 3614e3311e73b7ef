/** Mixing bridges: which channels hear each other. */
import { type Channel, timestamp } from "./Channel.ts"

export class Bridge {
  readonly id: string
  readonly name: string
  readonly type: string
  readonly creationtime = timestamp()
  channels: Array<Channel> = []
  hasMusic = false

  constructor(id: string, name: string, type: string) {
    this.id = id
    this.name = name
    this.type = type
  }

  toJSON(): object {
    return {
      id: this.id,
      technology: "simple_bridge",
      bridge_type: this.type,
      bridge_class: "stasis",
      creator: "Stasis",
      name: this.name,
      channels: this.channels.map((channel) => channel.id),
      creationtime: this.creationtime,
      video_mode: "none"
    }
  }
}

export class Bridges {
  #byId = new Map<string, Bridge>()

  get(id: string): Bridge | undefined {
    return this.#byId.get(id)
  }

  all(): ReadonlyArray<Bridge> {
    return [...this.#byId.values()]
  }

  create(id: string, name: string, type: string): Bridge {
    const bridge = new Bridge(id, name, type)
    this.#byId.set(id, bridge)
    return bridge
  }

  destroy(bridge: Bridge): void {
    for (const channel of [...bridge.channels]) this.leave(channel)
    this.#byId.delete(bridge.id)
  }

  enter(bridge: Bridge, channel: Channel): void {
    if (channel.bridge === bridge) return
    this.leave(channel)
    bridge.channels.push(channel)
    channel.bridge = bridge
  }

  leave(channel: Channel): void {
    const bridge = channel.bridge
    if (bridge === undefined) return
    bridge.channels = bridge.channels.filter((other) => other !== channel)
    channel.bridge = undefined
  }

  clear(): void {
    this.#byId.clear()
  }
}

/** The other channel in the bridge. */
export const partnerOf = (channel: Channel): Channel | undefined => channel.bridge?.channels.find((other) => other !== channel)
