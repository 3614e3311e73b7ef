/** The emulators of the hosted carriers by the names of their adapters, each with the configuration that the engine needs to call through it. */
import { startCloudonixEmulator } from "./cloudonix/CloudonixEmulator.ts"
import { account as plivoAccount, startPlivoEmulator } from "./plivo/PlivoEmulator.ts"
import type { CalleeLog } from "./shared/CalleeLog.ts"
import type { DialectEmulator } from "./shared/PlivoDialectEmulator.ts"
import { startTelnyxEmulator } from "./telnyx/TelnyxEmulator.ts"
import { TwilioEmulator } from "./twilio/TwilioEmulator.ts"
import { account as vobizAccount, startVobizEmulator } from "./vobiz/VobizEmulator.ts"
import { startVonageEmulator } from "./vonage/VonageEmulator.ts"

interface Carrier {
  /** The carrier's name as people write it. */
  readonly title: string
  /** The fields of the engine's configuration, without the name of the provider. */
  readonly account: Readonly<Record<string, string>>
  readonly url: string
  readonly log: CalleeLog
  readonly stop: () => Promise<void>
}

interface CarrierSettings {
  /** The account's numbers. */
  readonly numbers: ReadonlyArray<string>
  readonly ringMillis: number
  readonly talkMillis: number
}

/** No account here is limited to the rate of a new one, which is one or two calls per second. */
const perSecond = 1000

const ofDialect = (title: string, { authId, authToken }: typeof plivoAccount, emulator: DialectEmulator): Carrier => {
  const { log, url } = emulator
  return { title, account: { auth_id: authId, auth_token: authToken }, log, url, stop: () => emulator.stop() }
}

export const carriers = {
  twilio: async (settings: CarrierSettings): Promise<Carrier> => {
    const emulator = await TwilioEmulator.start({ ...settings, callsPerSecond: perSecond })
    const { accountSid, authToken, log, server } = emulator
    const account = { account_sid: accountSid, auth_token: authToken }
    return { title: "Twilio", account, log, url: server.url, stop: () => emulator.stop() }
  },
  telnyx: async ({ ringMillis, talkMillis }: CarrierSettings): Promise<Carrier> => {
    const emulator = await startTelnyxEmulator({ ringMillis, talkMillis })
    const { apiKey, connectionId, log, publicKey, url } = emulator
    const account = { api_key: apiKey, connection_id: connectionId, webhook_public_key: publicKey }
    return { title: "Telnyx", account, log, url, stop: () => emulator.stop() }
  },
  vonage: async (settings: CarrierSettings): Promise<Carrier> => {
    const emulator = await startVonageEmulator({ ...settings, callsPerSecond: perSecond, requestsPerSecond: perSecond })
    const { apiKey, apiSecret, applicationId, keys, log, privateKey, url } = emulator
    const account = {
      application_id: applicationId,
      private_key: privateKey,
      api_key: apiKey,
      api_secret: apiSecret,
      signature_secret: keys.signatureSecret
    }
    return { title: "Vonage", account, log, url, stop: () => emulator.stop() }
  },
  plivo: async (settings: CarrierSettings): Promise<Carrier> =>
    ofDialect("Plivo", plivoAccount, await startPlivoEmulator({ ...settings, callsPerSecond: perSecond })),
  vobiz: async (settings: CarrierSettings): Promise<Carrier> =>
    ofDialect("Vobiz", vobizAccount, await startVobizEmulator({ ...settings, callsPerSecond: perSecond })),
  cloudonix: async (settings: CarrierSettings): Promise<Carrier> => {
    const emulator = await startCloudonixEmulator(settings)
    const { apiKey, domain, log, url } = emulator
    return { title: "Cloudonix", account: { bearer_token: apiKey, domain_id: domain.name }, log, url, stop: () => emulator.stop() }
  }
} as const

export type CarrierName = keyof typeof carriers
