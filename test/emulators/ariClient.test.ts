/** The emulated Asterisk as other people's client of ARI sees it. */
import { createRequire } from "node:module"
import t from "tap"
import { start, until } from "./ari/bareClient.ts"

interface AriClient {
  readonly asterisk: { getInfo(): Promise<{ readonly system: { readonly version: string } }> }
  on(type: "StasisStart", hear: (event: { readonly channel: { readonly state: string } }) => void): void
  on(type: "ChannelDestroyed", hear: (event: { readonly cause: number }) => void): void
  start(application: string): Promise<void>
  stop(): void
  Channel(): { originate(options: object): Promise<{ readonly id: string; hangup(): Promise<void> }> }
}
type AriClientModule = { connect(url: string, user: string, password: string): Promise<AriClient> }

t.test("given the npm client for Asterisk, then it reads, originates, hears and hangs up as it does with Asterisk", async (t) => {
  const emulator = await start(t)
  // The package has no types; only what is used here is declared above.
  const { connect }: AriClientModule = createRequire(import.meta.url)("ari-client")
  const { log } = console
  console.log = () => {} // it complains about Swagger 1.1, with Asterisk as well as with the emulator
  t.teardown(() => {
    console.log = log
  })
  const client = await connect(emulator.url, emulator.user, emulator.password)
  t.equal((await client.asterisk.getInfo()).system.version, "22.10.1")
  const events: Array<string> = []
  client.on("StasisStart", (event) => events.push(`started ${event.channel.state}`))
  client.on("ChannelDestroyed", (event) => events.push(`ended ${event.cause}`))
  await client.start("app")
  const channel = await client.Channel().originate({ endpoint: "PJSIP/+15550001111@trunk", app: "app" })
  await until(() => events.length === 1)
  await channel.hangup()
  await until(() => events.length === 2)
  t.strictSame(events, ["started Up", "ended 16"])
  t.match(emulator.log.of(channel.id).at(-1), { kind: "ended", by: "us" })
  client.stop()
})
