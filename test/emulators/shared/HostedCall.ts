/** A call at a hosted carrier, as far as all carriers are alike: its media sockets, the order of its events, and its destination. */
import type { CallbackSender } from "./CallbackSender.ts"
import { calleeOf } from "./Callee.ts"
import type { CallLife, CallLives } from "./CallLife.ts"
import { Disorder, type Place } from "./Disorder.ts"
import { MediaLeg, type MediaLegOptions } from "./MediaLeg.ts"

/** What a call needs of its carrier. */
export interface HostedAccount {
  readonly lives: CallLives
  readonly callbacks: CallbackSender
  /** How long after the end of its stream the end of a call is reported. */
  readonly endMillis: number
}

type LegSettings = Pick<MediaLegOptions, "url" | "words" | "onLost"> & Partial<MediaLegOptions>
type OutgoingCallback = Parameters<CallbackSender["send"]>[1]
/** Gets the reply to a callback. */
export type OnReply = NonNullable<OutgoingCallback["onReply"]>

export abstract class HostedCall<Told> {
  /** The dialed number in E.164. */
  readonly number: string
  /** Its media sockets, in order. */
  readonly legs: Array<MediaLeg> = []
  /** Resolves when the reply to the request may be sent. */
  readonly placed: Promise<void>
  /** Undefined before the call has left the carrier. */
  life: CallLife | undefined
  /** What is connected to the callee, or is being dialed for them. */
  protected destination: { hangUp(): unknown } | undefined
  readonly #account: HostedAccount
  readonly #disorder: Disorder<Told> | undefined

  constructor(account: HostedAccount, number: string, placeOf: (told: Told) => Place) {
    this.#account = account
    this.number = number
    const callee = calleeOf(number)
    const isDisorderly = callee.kind === "answers" && callee.disorderly === true
    this.#disorder = isDisorderly ? new Disorder((told) => this.send(told), placeOf) : undefined
    this.placed = this.#disorder?.answered ?? Promise.resolve()
  }

  protected abstract send(told: Told): void

  /** Returns false if there is nothing to hang up. */
  hangUp(): boolean {
    return this.life?.hangUp() ?? false
  }

  protected isOrderly(): boolean {
    return this.#disorder === undefined
  }

  /** Sends what is told, in the callee's order. */
  protected tell(told: Told): void {
    if (this.#disorder === undefined) this.send(told)
    else this.#disorder.add(told)
  }

  /** Opens another media socket. */
  protected open(life: CallLife, settings: LegSettings): MediaLeg {
    const { log, pace } = this.#account.lives
    const leg = new MediaLeg({
      id: life.id,
      callee: life.callee,
      log,
      pressMillis: (pace.talkMillis * pace.scale) / 8,
      onHeard: () => life.heard(),
      onPressedAll: () => life.pressedAll(),
      ...settings
    })
    this.legs.push(leg)
    return leg
  }

  protected endStream(): void {
    this.legs.at(-1)?.end()
    this.destination?.hangUp()
  }

  /** The stream and the leg of the destination end before the end of the call is told. */
  protected endThen(tell: () => void): void {
    this.endStream()
    const { endMillis } = this.#account
    if (endMillis === 0 || this.legs.length === 0) tell()
    else setTimeout(tell, endMillis).unref()
  }
}
