/** A trunk that is up through a hosted carrier, the emulated carrier behind it, and calls in every state. */
import type { Test } from "tap"
import { cloudonix, plivo, telnyx, twilio, vobiz, vonage } from "#adapters/index.ts"
import { type CarrierName, hostedCarriers } from "#test/emulators/hostedCarriers.ts"
import type { HostedEmulator } from "#test/emulators/shared/HostedEmulator.ts"
import { untilTrue } from "#test/support/until.ts"
import { Hosted, OUR_NUMBER } from "./hosted.ts"
import { numberOf } from "./Line.ts"

export const adapters = { cloudonix, plivo, telnyx, twilio, vobiz, vonage }

type Start<Name extends CarrierName> = (typeof hostedCarriers)[Name]["start"]
type Settings<Name extends CarrierName> = Partial<Parameters<Start<Name>>[0]>
type Emulator<Name extends CarrierName> = Awaited<ReturnType<Start<Name>>>

export const startCarrier = async <Name extends CarrierName>(
  t: Test,
  name: Name,
  settings: Settings<Name> = {}
): Promise<Emulator<Name>> => {
  // The cast holds because the settings are those of this carrier.
  const start = hostedCarriers[name].start as unknown as (settings: object) => Promise<Emulator<Name>>
  const emulator = await start({ numbers: [OUR_NUMBER], ...settings })
  t.teardown(() => emulator.stop())
  return emulator
}

/** `started`: the far end has not answered at all. */
export type State = "queued" | "started" | "ringing" | "up" | "ended"

/** Who is called for a call in this state, and what the callee has seen by then. */
const callees = {
  queued: ["011", undefined],
  started: ["014", "originate"],
  ringing: ["003", "ringing"],
  up: ["011", "answered"],
  ended: ["002", "ended"]
} as const

/** `more`: other fields of the configuration than the account's. */
export const openCarrier = async <Name extends CarrierName>(t: Test, name: Name, settings: Settings<Name> = {}, more: object = {}) => {
  const emulator = await startCarrier(t, name, settings)
  const hosted = await Hosted.up(adapters[name], { ...emulator.account, ...more }, { apiOrigin: emulator.url })
  t.teardown(() => hosted.close())
  return { emulator, hosted, ...watching(emulator, hosted) }
}

const watching = (emulator: HostedEmulator, hosted: Hosted) => {
  const idOf = (to: string) => [...emulator.calls].findLast(([, { number }]) => number === to)?.[0]
  return {
    /** How often the number was called, and how often calls to it were requested. */
    dials: (to: string) => emulator.log.dialsByNumber().get(to) ?? 0,
    asked: (to: string) => emulator.dials().filter(({ body }) => body.includes(to.slice(1))).length,
    /** The carrier's id of the latest call to the number. */
    idOf,
    hasEnded: (to: string) => emulator.log.of(to).at(-1)?.kind === "ended",
    /** The events of a call, each once. */
    storyOf: (callId: string) => [...new Set(hosted.line.story(callId))],
    /** A call in this state. */
    callIn: async (state: State) => {
      const [ending, kind] = callees[state]
      const to = numberOf(ending)
      emulator.holdQueue?.(state === "queued")
      const { callId } = await hosted.originate(to)
      if (kind !== undefined) await untilTrue(state, () => emulator.log.of(to).some((entry) => entry.kind === kind))
      await emulator.callbacks.settled()
      return { callId, to, id: idOf(to) ?? "", ref: () => hosted.ref(callId) }
    }
  }
}
