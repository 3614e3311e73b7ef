/**
 * The audio, as chan_websocket carries it: frames both ways on a media socket, a queue of at most 20 s towards the callee, and text commands.
 * Each channel ticks from when it was opened, as in Asterisk. Audio is in real time, whatever the emulator's time scale.
 */
import type { WebSocket } from "ws"
import { partnerOf } from "./Bridges.ts"
import type { Calls, Line } from "./Calls.ts"
import type { CalleeLog } from "#test/emulators/shared/CalleeLog.ts"
import { everyTick } from "#test/emulators/shared/everyTick.ts"
import type { Channel } from "./Channel.ts"
import { MediaQueue } from "./MediaQueue.ts"
import { frameBytes } from "./Sound.ts"

const tickMillis = 20
const mostLateTicks = 10
/** A client that does not read gets no more frames. */
const unreadLimitBytes = 250_000
/** Asterisk closes the socket on a longer message, and drops a longer command. */
const longestAudio = 65_500
const longestCommand = 128

/** The two ends of one media channel's audio. */
type Leg = {
  readonly channel: Channel
  readonly queue: MediaQueue
  stopTicks: () => void
  send(frame: Buffer): void
  /** Sends an event to the other end of a WebSocket; RTP has none. */
  say(event: string, details?: Details): void
  close(): void
  /** Closes without a handshake. */
  drop(): void
}

export const connectionIdVariable = "MEDIA_WEBSOCKET_CONNECTION_ID"

export class Media implements Line {
  /** Channels that wait for a client, or have one, by connection id. */
  readonly awaited = new Map<string, Channel>()
  #calls: Calls
  #log: CalleeLog
  #speaks: boolean
  #legs = new Map<Channel, Leg>()

  constructor(calls: Calls, log: CalleeLog, speaks: boolean) {
    this.#calls = calls
    this.#log = log
    this.#speaks = speaks
  }

  isOpen(channel: Channel): boolean {
    return this.#legs.has(channel)
  }

  /** The client of this channel has connected: the channel is answered and enters its application. */
  open(channel: Channel, socket: WebSocket, connectionId: string): void {
    const say: Leg["say"] = (event, details = {}) => socket.send(asText(channel, event, details))
    const leg: Leg = {
      channel,
      queue: new MediaQueue(say),
      stopTicks: () => {},
      send: (frame) => {
        if (socket.bufferedAmount < unreadLimitBytes) socket.send(frame, { binary: true })
      },
      say,
      close: () => socket.close(1000),
      drop: () => socket.terminate()
    }
    say("MEDIA_START", {
      connection_id: connectionId,
      channel: channel.name,
      channel_id: channel.id,
      format: "ulaw",
      optimal_frame_size: frameBytes,
      ptime: tickMillis
    })
    socket.on("message", (data: Buffer, isBinary: boolean) => {
      if (!isBinary) return this.#command(leg, data.toString())
      if (data.length > longestAudio) return socket.close(1009)
      this.#receive(leg, data)
    })
    // As before 20.18 and 22.8.
    socket.on("ping", () => socket.close(1000))
    socket.on("close", (code) => {
      this.#close(leg)
      this.#calls.end(channel, { cause: 16, sipStatus: code })
    })
    channel.clearTimers()
    this.#add(leg)
    this.#calls.answer(channel)
  }

  /** Opens a leg without events, for RTP. Returns the function that takes arriving audio. */
  openPlain(channel: Channel, port: { send(frame: Buffer): void; close(): void }): (audio: Buffer) => void {
    const leg: Leg = {
      channel,
      queue: new MediaQueue(() => {}),
      stopTicks: () => {},
      send: port.send,
      say: () => {},
      close: port.close,
      drop: port.close
    }
    this.#add(leg)
    return (audio) => this.#receive(leg, audio)
  }

  press(channel: Channel, digit: string): void {
    const leg = this.#legOf(channel)
    leg?.say("DTMF_END", { digit, channel_id: leg.channel.id })
  }

  lose(channel: Channel): void {
    const leg = this.#legOf(channel)
    if (leg === undefined) return
    leg.drop()
    this.#close(leg)
    this.#calls.end(leg.channel, { cause: 38 })
  }

  closed(channel: Channel): void {
    const connectionId = channel.channelvars?.[connectionIdVariable]
    if (connectionId !== undefined) this.awaited.delete(connectionId)
    const leg = this.#legs.get(channel)
    if (leg === undefined) return
    this.#close(leg)
    leg.close()
  }

  closeAll(): void {
    this.awaited.clear()
    for (const leg of [...this.#legs.values()]) {
      leg.drop()
      this.#close(leg)
    }
  }

  #legOf(callee: Channel): Leg | undefined {
    const partner = partnerOf(callee)
    return partner === undefined ? undefined : this.#legs.get(partner)
  }

  #add(leg: Leg): void {
    this.#legs.set(leg.channel, leg)
    const lose = (ticks: number) => void (this.#log.audio(heardBy(leg)).lost += ticks)
    leg.stopTicks = everyTick(mostLateTicks, () => this.#exchange(leg), lose)
  }

  #close(leg: Leg): void {
    this.#legs.delete(leg.channel)
    leg.stopTicks()
  }

  #exchange(leg: Leg): void {
    const frame = leg.queue.take()
    const partner = partnerOf(leg.channel)
    if (partner === undefined || partner.state !== "Up") return
    this.#log.play(partner.id, frame)
    const audio = this.#log.audio(partner.id)
    if (audio.spokenAt !== undefined) partner.heard()
    const talker = this.#log.talker(partner.id, (digit) => this.#calls.press(partner, digit))
    const { callee } = partner
    const says = this.#speaks && callee?.kind === "answers" ? () => partner.mouth.next(callee.sound) : () => undefined
    const spoken = talker === undefined ? says() : talker.next(frame)
    if (spoken === undefined) return
    leg.send(spoken)
    audio.sent += 1
  }

  #receive(leg: Leg, audio: Buffer): void {
    const count = this.#log.audio(heardBy(leg))
    count.received += Math.floor(audio.length / frameBytes)
    count.receivedBytes += audio.length
    count.dropped += leg.queue.add(audio)
  }

  #command(leg: Leg, text: string): void {
    if (text.length > longestCommand) return
    const [command = "", id = ""] = text.split(" ", 2)
    if (command === "FLUSH_MEDIA") this.#log.audio(heardBy(leg)).flushes += 1
    if (!leg.queue.obey(command, id)) leg.say("ERROR", { error_text: `Unknown command: ${command}` })
  }
}

/** Whose audio it is: the callee's, or in no bridge the media channel's own. */
const heardBy = ({ channel }: Leg): string => partnerOf(channel)?.id ?? channel.id

type Details = Readonly<Record<string, string | number | boolean>>

/** Events carry an id alone, nothing, or named values, which begin with the channel only in an error. */
const asText = (channel: Channel, event: string, details: Details): string => {
  const { correlation_id: id = "", ...named } = details
  const shown = event === "ERROR" ? { channel_id: channel.id, ...named } : named
  return [event, ...(id === "" ? [] : [id]), ...Object.entries(shown).map(([name, value]) => `${name}:${value}`)].join(" ")
}
