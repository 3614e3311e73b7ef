/**
 * The calls: they are dialed, ring, are answered and end here, and all their events are sent from here, in Asterisk's order. `Callee.ts`
 * describes the callees. A call that fails never enters the application; `StasisStart` means answered, unless the channel was only created.
 */
import type { Applications } from "./Applications.ts"
import type { Bridges } from "./Bridges.ts"
import { type Callee, calleeOf, type Ending, goodbyeCause, machineMillis } from "#test/emulators/shared/Callee.ts"
import type { CalleeEntry, CalleeLog } from "#test/emulators/shared/CalleeLog.ts"
import { Channel, type Channels, type ChannelSettings, type Told } from "./Channel.ts"
import { Disorder } from "#test/emulators/shared/Disorder.ts"
import { Gate } from "#test/emulators/shared/Gate.ts"

type Pace = {
  /** 0.1 is ten times faster; audio always stays in real time. */
  readonly scale: number
  readonly ringMillis: number
  readonly talkMillis: number
  /** Callees begin to talk when they first hear something, not when they answer. */
  readonly talkOnceHeard: boolean
  /** Returns a number between 0 and 1; absent if all calls take equally long. */
  readonly chance?: () => number
}

type Ended = Ending & {
  readonly by?: NonNullable<CalleeEntry["by"]>
  /** The body of `ChannelHangupRequest`; without it, none is sent. */
  readonly hangupRequest?: object
}

const causeTexts: { readonly [cause: number]: string } = {
  0: "Unknown",
  1: "Unallocated (unassigned) number",
  3: "No route to destination",
  16: "Normal Clearing",
  17: "User busy",
  18: "No user responding",
  19: "User alerting, no answer",
  21: "Call Rejected",
  26: "Answered elsewhere",
  28: "Invalid number format",
  31: "Normal, unspecified",
  34: "Circuit/channel congestion",
  38: "Network out of order",
  127: "Interworking, unspecified"
}

/** What the calls need of the audio; `Media` provides it. */
export type Line = {
  press(channel: Channel, digit: string): void
  /** The network is gone: the socket closes without a handshake. */
  lose(channel: Channel): void
  /** A channel has ended, and with it its audio. */
  closed(channel: Channel): void
}

/** Soft hangup requests carry this instead of a cause. */
const softHangup = 32

/** The share of the ringing time that passes before the far end sends anything. */
const firstReply = 0.2

export class Calls {
  line: Line | undefined
  #applications: Applications
  #bridges: Bridges
  #channels: Channels
  #log: CalleeLog
  #pace: Pace
  /** Callees who would have answered. */
  readonly answers = new Gate()
  /** Callees who would have hung up. */
  readonly goodbyes = new Gate()
  /** Calls that are dropped because nobody is connected. */
  readonly drops = new Gate()

  constructor(parts: { applications: Applications; bridges: Bridges; channels: Channels; log: CalleeLog; pace: Pace }) {
    this.#applications = parts.applications
    this.#bridges = parts.bridges
    this.#channels = parts.channels
    this.#log = parts.log
    this.#pace = parts.pace
  }

  /** Creates a channel in state Down. Its application gets its events from now on, if a client has ever connected for it. */
  create(settings: ChannelSettings): Channel {
    const channel = new Channel(settings)
    if (this.#applications.get(channel.app) !== undefined) channel.subscribers.push(channel.app)
    this.#channels.add(channel)
    for (const [variable, value] of Object.entries(channel.variables)) {
      this.#tell(channel, "ChannelVarset", () => ({ variable, value, channel }))
    }
    return channel
  }

  /** Resolves when the response may be sent: at once, except for the callee whose events overtake it. */
  async dial(channel: Channel, timeoutSeconds: number, askedAt: number): Promise<void> {
    const callee = calleeOf(channel.number)
    channel.callee = callee
    channel.dialled = true
    const chaos = callee.kind === "answers" && callee.disorderly && !channel.inStasis
    if (chaos) channel.disorder = disorderOf(({ body, type }) => this.#applications.tell(channel.subscribers, type, () => body))
    const shown = channel.callerId === "" ? {} : { shown: channel.callerId }
    this.#log.record({ channelId: channel.id, number: channel.number, kind: "originate", ...shown }, askedAt)
    if (timeoutSeconds >= 0) channel.after(timeoutSeconds * 1000 * this.#pace.scale, () => this.#timeOut(channel))
    if (chaos) this.#play(channel, callee)
    else setImmediate(() => this.#play(channel, callee))
    await channel.disorder?.answered
  }

  /**
   * Puts an answered or merely created channel under the application's control, which gets its events from then on, even if it was unknown when the channel
   * was created (`stasis_app_exec` in Asterisk's `res_stasis.c`).
   */
  enterStasis(channel: Channel): void {
    channel.inStasis = true
    if (!channel.subscribers.includes(channel.app)) channel.subscribers.push(channel.app)
    const args = channel.appArgs === "" ? [] : channel.appArgs.split(",")
    this.#tell(channel, "StasisStart", () => ({ args, channel }))
  }

  answer(channel: Channel): void {
    channel.state = "Up"
    this.#tell(channel, "ChannelStateChange", () => ({ channel }))
    this.tellDial(channel, "ANSWER")
    if (!channel.inStasis) this.enterStasis(channel)
  }

  tellDial(channel: Channel, dialstatus: string): void {
    const dialstring = channel.name.startsWith("PJSIP/") ? `${channel.number}@${channel.name.slice(6, -9)}` : channel.name
    this.#tell(channel, "Dial", () => ({ dialstatus, forward: "", dialstring, peer: channel }))
  }

  leaveStasis(channel: Channel): void {
    channel.inStasis = false
    this.#bridges.leave(channel)
    this.#tell(channel, "StasisEnd", () => ({ channel }))
  }

  hangUp(channel: Channel, cause: number): void {
    this.end(channel, { cause, by: "us", hangupRequest: { soft: true, cause: softHangup } })
  }

  setVariable(channel: Channel, variable: string, value: string): void {
    channel.variables[variable] = value
    this.#tell(channel, "ChannelVarset", () => ({ variable, value, channel }))
  }

  /** The callee presses a key. */
  press(channel: Channel, digit: string): void {
    this.line?.press(channel, digit)
    this.#tell(channel, "ChannelDtmfReceived", () => ({ digit, duration_ms: 100, channel }))
  }

  end(channel: Channel, ended: Ended): void {
    if (channel.ended) return
    channel.ended = true
    channel.clearTimers()
    const techCause = ended.sipStatus === undefined ? {} : { tech_cause: ended.sipStatus }
    const { hangupRequest } = ended
    if (hangupRequest !== undefined) this.#tell(channel, "ChannelHangupRequest", () => ({ ...hangupRequest, ...techCause, channel }))
    if (ended.dialStatus !== undefined) this.tellDial(channel, ended.dialStatus)
    this.#bridges.leave(channel)
    this.line?.closed(channel)
    if (channel.inStasis) this.#tell(channel, "StasisEnd", () => ({ channel }))
    this.#channels.remove(channel)
    if (channel.dialled) this.#record(channel, "ended", { cause: ended.cause, ...(ended.by === undefined ? {} : { by: ended.by }) })
    const cause_txt = causeTexts[ended.cause] ?? "Unknown"
    this.#tell(channel, "ChannelDestroyed", () => ({ cause: ended.cause, cause_txt, ...techCause, channel }))
  }

  /** Like the death of the process: nobody is told anything. */
  forgetAll(): void {
    for (const channel of this.#channels.all()) if (channel.dialled) this.#record(channel, "ended")
    this.#channels.clear()
  }

  #drop(channel: Channel): void {
    this.drops.pass(() => this.end(channel, { cause: 16 }))
    if (!channel.ended) channel.state = "Up"
  }

  #play(channel: Channel, callee: Callee): void {
    if (channel.ended) return
    const { chance, ringMillis, scale } = this.#pace
    const ring = varied(ringMillis, chance) * scale
    this.tellDial(channel, "")
    const rings = callee.kind === "answers" || callee.rings
    if (rings) channel.after(ring * firstReply, () => this.#ring(channel))
    if (callee.kind === "answers") channel.after(ring, () => this.answers.pass(() => this.#pickUp(channel, callee)))
    if (callee.kind === "refuses") channel.after(rings ? ring : ring * firstReply, () => this.#refuse(channel, callee.ending))
  }

  #ring(channel: Channel): void {
    channel.state = "Ringing"
    this.#record(channel, "ringing")
    this.#tell(channel, "ChannelStateChange", () => ({ channel }))
    this.tellDial(channel, "RINGING")
  }

  #refuse(channel: Channel, ending: Ending): void {
    this.end(channel, { ...ending, by: "callee", hangupRequest: { cause: ending.cause } })
  }

  #pickUp(channel: Channel, callee: Extract<Callee, { kind: "answers" }>): void {
    if (channel.ended) return
    channel.clearTimers()
    this.#record(channel, "answered")
    // The dialplan's Stasis() fails when nobody is connected, and the call is dropped without an event.
    if (!channel.inStasis && !this.#applications.isActive(channel.app)) return this.#drop(channel)
    this.answer(channel)
    const talk = () => this.#talk(channel, callee)
    if (this.#pace.talkOnceHeard) channel.whenHeard(talk)
    else talk()
  }

  #talk(channel: Channel, callee: Extract<Callee, { kind: "answers" }>): void {
    const { chance, scale, talkMillis } = this.#pace
    const talk = varied(talkMillis, chance) * scale
    const digits = [...(callee.presses ?? "")]
    for (const [index, digit] of digits.entries()) {
      channel.after((talk * (index + 1)) / (digits.length + 1), () => this.press(channel, digit))
    }
    const cause = goodbyeCause(channel.number)
    const goodbye = () => this.goodbyes.pass(() => this.end(channel, { cause, by: "callee", hangupRequest: { cause } }))
    if (callee.stay === "talks") channel.after(talk, goodbye)
    if (callee.stay === "bounded") channel.after(Math.max(machineMillis.least, machineMillis.most * scale), goodbye)
    if (callee.stay === "hangs-up-at-once") channel.after(0, goodbye)
    if (callee.stay === "loses-the-line") channel.after(talk / 2, () => this.#loseLine(channel))
  }

  #loseLine(channel: Channel): void {
    this.line?.lose(channel)
    this.end(channel, { cause: 38, by: "callee" })
  }

  // At the caller's own timeout there is neither a Dial event nor a hangup request, and 480 is reported although nobody sent it.
  #timeOut(channel: Channel): void {
    this.end(channel, { cause: 19, sipStatus: 480, by: "timeout" })
  }

  #tell(channel: Channel, type: string, body: () => object): void {
    this.#applications.about(channel, type, body)
  }

  #record(channel: Channel, kind: CalleeEntry["kind"], more: Pick<CalleeEntry, "by" | "cause"> = {}): void {
    this.#log.record({ channelId: channel.id, number: channel.number, kind, ...more })
  }
}

const endings: ReadonlyArray<string> = ["ChannelHangupRequest", "StasisEnd"]
const disorderOf = (tell: (event: Told) => void) =>
  new Disorder(tell, ({ type }) => {
    if (type === "StasisStart") return "answer"
    return type === "ChannelDestroyed" ? "end" : endings.includes(type) ? "ending" : "before"
  })

/** Half to one and a half times as long; rounded, so that calls share Node's timer lists. */
const varied = (millis: number, chance: (() => number) | undefined): number =>
  chance === undefined ? millis : Math.round((millis * (0.5 + chance())) / 10) * 10
