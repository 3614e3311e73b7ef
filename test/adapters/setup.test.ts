/** What a hosted carrier's configuration lacks before calls can be placed, and which address must be entered where. */
import t from "tap"
import cloudonix from "#adapters/cloudonix/cloudonix.ts"
import telnyx from "#adapters/telnyx/telnyx.ts"
import twilio from "#adapters/twilio/twilio.ts"
import type { Adapter } from "#core/provider/Adapter.ts"
import { blockedBy } from "#core/provider/Setup.ts"

const stepsOf = ({ setup }: Adapter, config: Readonly<Record<string, unknown>>, publicUrl: string | undefined) =>
  setup?.(config, { publicUrl, callbackUrl: publicUrl === undefined ? undefined : (kind) => `${publicUrl}/callbacks/${kind}` }) ?? []
const blocked = (adapter: Adapter, config: Readonly<Record<string, unknown>>, publicUrl: string | undefined) =>
  blockedBy(stepsOf(adapter, config, publicUrl))

t.test("without a public address that the carrier accepts, no call is placed", async (t) => {
  const ready = { connection_id: "1684", webhook_public_key: "A6EHv/POEL4dcN0Y50vAmWfk1jCbpQ1fHdyGZBJVMbg=" }
  for (const [adapter, config] of [
    [cloudonix, {}],
    [telnyx, ready],
    [twilio, {}]
  ] as const) {
    t.match(blocked(adapter, config, undefined), /set PUBLIC_URL/, adapter.manifest.provider)
    t.equal(blocked(adapter, config, "https://voice.example.com"), undefined, adapter.manifest.provider)
  }
  t.match(blocked(twilio, {}, "https://voice_1.example.com"), /underscore/)
})

t.test("without an application, or the key that proves webhooks, no call is placed through Telnyx", async (t) => {
  const publicUrl = "https://voice.example.com"
  t.match(blocked(telnyx, {}, publicUrl), /connection_id/)
  t.match(blocked(telnyx, { connection_id: "1684", webhook_public_key: "A6EHv" }, publicUrl), /webhook_public_key/)
})

t.test("the address for the carrier's own settings is shown, once there is one", async (t) => {
  const addresses = (publicUrl: string | undefined) => stepsOf(telnyx, {}, publicUrl).filter(({ key }) => key === "webhook_url")
  t.strictSame(addresses(undefined), [])
  t.match(addresses("https://voice.example.com"), [
    { blocksOutbound: false, description: /https:\/\/voice\.example\.com\/callbacks\/event$/, isComplete: true }
  ])
})
