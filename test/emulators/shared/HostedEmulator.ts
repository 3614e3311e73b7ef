/**
 * A hosted carrier as seen from the wire: its REST interface on a real port of the loopback interface, and its callbacks. The number that is dialed
 * selects the callee (`Callee.ts`), and `log` records what the callees saw. The subclasses are the carriers.
 */
import { CallbackSender } from "./CallbackSender.ts"
import { CalleeLog } from "./CalleeLog.ts"
import { CallLives, type CallPace } from "./CallLife.ts"
import { type CarrierAnswer, type CarrierAsk, CarrierServer } from "./CarrierServer.ts"
import type { HostedAccount, HostedCall } from "./HostedCall.ts"

export interface HostedOptions extends Omit<Partial<CallPace>, "scale"> {
  /** The account's numbers in E.164. */
  readonly numbers?: ReadonlyArray<string>
  /** 0.1 is ten times faster; audio stays in real time. */
  readonly timeScale?: number
}

type Call = Pick<HostedCall<unknown>, "hangUp" | "legs" | "number">

export abstract class HostedEmulator<One extends Call = Call> implements HostedAccount {
  /** The name of the carrier's adapter. */
  abstract readonly provider: string
  /** The fields of the engine's configuration, without the name of the provider. */
  abstract readonly account: Readonly<Record<string, string>>
  /** Whether a request is to place a call. */
  abstract readonly places: (ask: CarrierAsk) => boolean
  /** Whether a request is to connect an answered call to somebody else. */
  abstract readonly transfers: (ask: CarrierAsk) => boolean
  abstract readonly hangsUp: (ask: CarrierAsk) => boolean
  readonly log = new CalleeLog()
  readonly server = new CarrierServer((ask) => this.answer(ask))
  readonly lives: CallLives
  readonly callbacks: CallbackSender
  /** By the carrier's ids. */
  readonly calls = new Map<string, One>()
  readonly numbers: ReadonlyArray<string>
  endMillis = 0

  /** `retries`: how often a callback is sent again. */
  constructor({ numbers = [], timeScale: scale = 1, ...pace }: HostedOptions, retries: number) {
    this.numbers = numbers
    this.lives = new CallLives(this.log, { ...pace, scale })
    this.callbacks = new CallbackSender({ retries })
  }

  protected abstract answer(ask: CarrierAsk): CarrierAnswer | Promise<CarrierAnswer>

  get url(): string {
    return this.server.url
  }

  /** The requests for calls that arrived, whatever their results. */
  dials(): ReadonlyArray<CarrierAsk> {
    return this.server.requests.filter(this.places)
  }

  /** Sets how long after their streams the ends of calls are reported, from now on. */
  endLate(millis: number): void {
    this.endMillis = millis
  }

  /** On: nobody who talks hangs up. Off: callees whose time to hang up has come do so now. */
  letTalk(on: boolean): void {
    this.lives.letTalk(on)
  }

  /** On: nobody answers. Off: callees whose time to answer has come do so now. */
  letRing(on: boolean): void {
    this.lives.letRing(on)
  }

  /** On: calls stay in the carrier's queue. Off: they leave it at the account's rate. Absent if the carrier has no queue. */
  holdQueue?(on: boolean): void

  /** Deletes the record of a call. */
  forget(id: string): void {
    this.calls.delete(id)
  }

  async stop(): Promise<void> {
    for (const call of this.calls.values()) call.hangUp()
    this.callbacks.lose()
    await this.server.stop()
  }

  /** The calls to this number, the oldest first. */
  protected to(number: string): ReadonlyArray<One> {
    return [...this.calls.values()].filter((call) => call.number === number)
  }
}

/** The emulator, once it listens. */
export const started = async <Emulator extends { readonly server: CarrierServer }>(emulator: Emulator): Promise<Emulator> => {
  await emulator.server.listen()
  return emulator
}
