/** The hosted carriers as stories need them: an emulator, an account there, and how to recognize its requests. */
import type { Test } from "tap"
import { isOrder, startCloudonixEmulator } from "#test/emulators/cloudonix/CloudonixEmulator.ts"
import { account as plivoAccount, startPlivoEmulator } from "#test/emulators/plivo/PlivoEmulator.ts"
import type { CallbackSender } from "#test/emulators/shared/CallbackSender.ts"
import type { CallLives } from "#test/emulators/shared/CallLife.ts"
import type { CalleeLog } from "#test/emulators/shared/CalleeLog.ts"
import type { CarrierAsk, CarrierServer } from "#test/emulators/shared/CarrierServer.ts"
import { type DialectEmulator, placesDialectCall } from "#test/emulators/shared/PlivoDialectEmulator.ts"
import { isDial, startTelnyxEmulator } from "#test/emulators/telnyx/TelnyxEmulator.ts"
import { placesCall as isTwilioCall, TwilioEmulator } from "#test/emulators/twilio/TwilioEmulator.ts"
import { account as vobizAccount, startVobizEmulator } from "#test/emulators/vobiz/VobizEmulator.ts"
import { placesCall as isVonageCall, startVonageEmulator } from "#test/emulators/vonage/VonageEmulator.ts"
import { World, type WorldOptions } from "./engine.ts"
import { freePort } from "./freePort.ts"

/** The caller ID of the calls. */
export const ours = "+15550009000"

export interface Carrier {
  readonly provider: string
  readonly account: Readonly<Record<string, unknown>>
  readonly server: CarrierServer
  readonly log: CalleeLog
  readonly lives: CallLives
  readonly callbacks: CallbackSender
  /** Whether a request places a call. */
  readonly places: (ask: CarrierAsk) => boolean
  /** Sets how long after the end of a call's stream its end is reported. */
  readonly endLate: (millis: number) => void
}

interface Far {
  readonly ringMillis: number
  readonly talkMillis: number
  /** How many calls it accepts per second. Unlimited by default. */
  readonly callsPerSecond?: number
}

const unlimited = 1000

const dialectCarrier = (t: Test, provider: string, { authId, authToken }: typeof plivoAccount, emulator: DialectEmulator): Carrier => {
  t.teardown(() => emulator.stop())
  const { lives, log, sender: callbacks, server } = emulator
  const account = { auth_id: authId, auth_token: authToken }
  return { provider, account, callbacks, endLate: (millis) => emulator.endLate(millis), lives, log, places: placesDialectCall, server }
}

export const carriers: Readonly<Record<string, (t: Test, far: Far) => Promise<Carrier>>> = {
  Plivo: async (t, { callsPerSecond = Number.POSITIVE_INFINITY, ...far }) =>
    dialectCarrier(t, "plivo", plivoAccount, await startPlivoEmulator({ ...far, numbers: [ours], callsPerSecond })),
  Cloudonix: async (t, { callsPerSecond = unlimited, ...far }) => {
    // Each call is placed and then looked up.
    const emulator = await startCloudonixEmulator({ ...far, requests: callsPerSecond * 20 })
    t.teardown(() => emulator.stop())
    const { apiKey, callbacks, domain, lives, log, server } = emulator
    const endLate = (millis: number) => {
      domain.endMillis = millis
    }
    const account = { bearer_token: apiKey, domain_id: domain.name }
    return { provider: "cloudonix", account, callbacks, endLate, lives, log, places: isOrder, server }
  },
  Telnyx: async (t, { callsPerSecond = unlimited, ...far }) => {
    // Telnyx counts over five seconds.
    const emulator = await startTelnyxEmulator({ ...far, dials: callsPerSecond * 5 })
    t.teardown(() => emulator.stop())
    const { apiKey, callbacks, connectionId, lives, log, publicKey, server, telling } = emulator
    const endLate = (millis: number) => {
      telling.endMillis = millis
    }
    const account = { api_key: apiKey, connection_id: connectionId, webhook_public_key: publicKey }
    return { provider: "telnyx", account, callbacks, endLate, lives, log, places: isDial, server }
  },
  Twilio: async (t, { callsPerSecond = unlimited, ...far }) => {
    const emulator = await TwilioEmulator.start({ ...far, numbers: [ours], callsPerSecond })
    t.teardown(() => emulator.stop())
    const { accountSid, authToken, lives, log, sender: callbacks, server } = emulator
    const account = { account_sid: accountSid, auth_token: authToken }
    return {
      provider: "twilio",
      account,
      callbacks,
      endLate: (millis) => emulator.endLate(millis),
      lives,
      log,
      places: isTwilioCall,
      server
    }
  },
  Vobiz: async (t, { callsPerSecond = Number.POSITIVE_INFINITY, ...far }) =>
    dialectCarrier(t, "vobiz", vobizAccount, await startVobizEmulator({ ...far, numbers: [ours], callsPerSecond })),
  Vonage: async (t, { callsPerSecond = unlimited, ...far }) => {
    const emulator = await startVonageEmulator({ ...far, numbers: [ours], callsPerSecond, requestsPerSecond: unlimited })
    t.teardown(() => emulator.stop())
    const { apiKey, apiSecret, applicationId, callbacks, keys, lives, log, privateKey, server, telling } = emulator
    const account = {
      application_id: applicationId,
      private_key: privateKey,
      api_key: apiKey,
      api_secret: apiSecret,
      signature_secret: keys.signatureSecret
    }
    const endLate = (millis: number) => {
      telling.endMillis = millis
    }
    return { provider: "vonage", account, callbacks, endLate, lives, log, places: isVonageCall, server }
  }
}

/** An engine whose calls go through this carrier. Without a greeting the agent says nothing, so that no audio is needed. */
export const openThrough = async (
  t: Test,
  { account, provider, server }: Pick<Carrier, "account" | "provider" | "server">,
  { environment, folder, greeting = "" }: Pick<WorldOptions, "environment" | "folder" | "greeting"> = {}
): Promise<World> => {
  const port = await freePort()
  const world = await World.open(t, {
    account: { provider, ...account },
    greeting,
    folder,
    environment: {
      ADAPTERS: `ari,${provider}`,
      ORG_CONCURRENCY: "50",
      PORT: String(port),
      PROVIDER_URLS: `${provider}=${server.url}`,
      PUBLIC_URL: `http://127.0.0.1:${port}`,
      RECORDINGS: "off",
      ...environment
    }
  })
  const { body } = await world.api.ask("GET", "/organizations/telephony-configs")
  // The cast holds because this is the list of what was just created.
  const [config] = (body as { readonly configurations: ReadonlyArray<{ readonly id: number }> }).configurations
  await world.api.ask("POST", `/organizations/telephony-configs/${config?.id}/phone-numbers`, { address: ours })
  return world
}
