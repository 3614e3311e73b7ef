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

const starting =
  ({ start }: (typeof hostedCarriers)[keyof typeof hostedCarriers], number: string) =>
  async (t: Test, far: Far): Promise<Carrier> => {
    const emulator = await start({ ...far, numbers: [number] })
    t.teardown(() => emulator.stop())
    return emulator
  }

export const carriers: Readonly<Record<string, (t: Test, far: Far) => Promise<Carrier>>> = Object.fromEntries(
  Object.values(hostedCarriers).map((carrier) => [carrier.title, starting(carrier, ours)])
)

/** Without a server, its address is part of the account, and calls have no caller ID. */
export interface Line extends Pick<Carrier, "account" | "numbers" | "provider"> {
  readonly server?: Pick<Carrier["server"], "url">
}
type Options = Pick<WorldOptions, "environment" | "folder" | "greeting">

/** An engine with a configuration for each line, of which the first is the default, and with their numbers. */
export const openThroughAll = async (t: Test, lines: ReadonlyArray<Line>, { environment, folder, greeting = "" }: Options = {}) => {
  const port = await freePort()
  const [first, ...others] = lines.map(({ account, provider }) => ({ provider, ...account }))
  const world = await World.open(t, {
    account: first ?? {},
    greeting,
    folder,
    environment: {
      ADAPTERS: [...new Set(["ari", ...lines.map(({ provider }) => provider)])].join(),
      ORG_CONCURRENCY: "50",
      PORT: String(port),
      PROVIDER_URLS: lines.flatMap(({ provider, server }) => (server === undefined ? [] : [`${provider}=${server.url}`])).join(),
      PUBLIC_URL: `http://127.0.0.1:${port}`,
      RECORDINGS: "off",
      ...environment
    }
  })
  for (const config of others) await world.api.ask("POST", "/organizations/telephony-configs", { name: config.provider, config })
  const { body } = await world.api.ask("GET", "/organizations/telephony-configs")
  // The cast holds because this is the list of what was just created.
  const { configurations } = body as { readonly configurations: ReadonlyArray<{ readonly id: number; readonly provider: string }> }
  for (const { id, provider } of configurations) {
    const { numbers: [address = ours] = [], server } = lines.find((line) => line.provider === provider) ?? {}
    if (server === undefined) continue
    t.match(await world.api.ask("POST", `/organizations/telephony-configs/${id}/phone-numbers`, { address }), { status: 200 })
  }
  return { configurations, world }
}

/** An engine whose calls go through this carrier. Without a greeting the agent says nothing, so that no audio is needed. */
export const openThrough = async (t: Test, line: Line, options?: Options): Promise<World> =>
  (await openThroughAll(t, [line], options)).world

/** An engine with a configuration for every carrier, and numbers of their own for each one's callees. */
export const openThroughEach = async (t: Test, far: Far, options?: Options) => {
  const starts = Object.values(hostedCarriers).map(async (carrier, at) => ({
    carrier: await starting(carrier, `+1555000900${at}`)(t, far),
    title: carrier.title
  }))
  const all = await Promise.all(starts)
  const { configurations, world } = await openThroughAll(
    t,
    all.map(({ carrier }) => carrier),
    options
  )
  const lines = all.map(({ carrier, title }, at) => {
    const telephony_configuration_id = configurations.find(({ provider }) => provider === carrier.provider)?.id
    return { carrier, prefix: `+121${at}`, title, settings: { telephony_configuration_id, retry: { maxRetries: 0 } } }
  })
  return { lines, world }
}
