/** The hosted carriers as stories need them: by their titles, each with an engine that calls through it. */
import type { Test } from "tap"
import { hostedCarriers } from "#test/emulators/hostedCarriers.ts"
import type { HostedEmulator, HostedOptions } from "#test/emulators/shared/HostedEmulator.ts"
import { World, type WorldOptions } from "./engine.ts"
import { freePort } from "./freePort.ts"

/** The caller ID of the calls. */
export const ours = "+15550009000"

export type Carrier = HostedEmulator

interface Far extends HostedOptions {
  /** How many calls it accepts per second. Unlimited by default. */
  readonly callsPerSecond?: number
}

export const carriers: Readonly<Record<string, (t: Test, far: Far) => Promise<Carrier>>> = Object.fromEntries(
  Object.values(hostedCarriers).map(({ start, title }) => [
    title,
    async (t: Test, far: Far) => {
      const emulator = await start({ ...far, numbers: [ours] })
      t.teardown(() => emulator.stop())
      return emulator
    }
  ])
)

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
