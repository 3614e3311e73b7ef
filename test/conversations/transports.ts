/** What conversations go through: a real Asterisk, and two carriers that differ in how they send audio. */
import type { Test } from "tap"
import type { CalleeLog } from "#test/emulators/shared/CalleeLog.ts"
import type { CallLives } from "#test/emulators/shared/CallLife.ts"
import { startAsterisk } from "#test/support/asterisk.ts"
import { World, type WorldOptions } from "#test/support/engine.ts"
import { carriers, openThrough } from "#test/support/hostedCarriers.ts"
import { AsteriskCallees, calleesApp } from "./AsteriskCallees.ts"

export const transports = ["asterisk", "twilio", "vonage"] as const
export type Transport = (typeof transports)[number]

export interface Through {
  readonly world: World
  readonly log: CalleeLog
  readonly lives: Pick<CallLives, "letRing">
  /** What went wrong at the far end itself. */
  readonly faults: ReadonlyArray<string>
}

type Settings = Pick<WorldOptions, "environment" | "folder">

const throughAsterisk = async (t: Test, settings: Settings): Promise<Through> => {
  const asterisk = await startAsterisk({ app: calleesApp })
  t.teardown(() => asterisk.stop())
  const callees = await AsteriskCallees.open(asterisk)
  t.teardown(() => callees.stop())
  const account = {
    app_name: asterisk.user,
    app_password: asterisk.password,
    ari_endpoint: asterisk.ariUrl,
    dial_string: "Local/{number}@inbound"
  }
  const world = await World.open(t, { ...settings, account })
  return { world, log: callees.log, lives: callees.lives, faults: callees.faults }
}

const throughCarrier = async (t: Test, name: "Twilio" | "Vonage", settings: Settings): Promise<Through> => {
  const carrier = await carriers[name]?.(t, { ringMillis: 200, talkMillis: 0 })
  if (carrier === undefined) throw new Error(`no carrier ${name}`)
  const world = await openThrough(t, carrier, settings)
  return { world, log: carrier.log, lives: carrier.lives, faults: [] }
}

export const openTransport = (t: Test, transport: Transport, settings: Settings): Promise<Through> => {
  if (transport === "asterisk") return throughAsterisk(t, settings)
  return throughCarrier(t, transport === "twilio" ? "Twilio" : "Vonage", settings)
}
