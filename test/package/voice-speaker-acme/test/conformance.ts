/** Tests that the voices do what every voice must do, against Acme on this machine. */
import { lookup } from "node:dns"
import { test } from "node:test"
import { voiceConformance, type VoiceWorld } from "trunkline/conformance"
import acme from "voice-speaker-acme"
import { AcmeVoices } from "./AcmeVoices.ts"

const openWorld = async (): Promise<VoiceWorld> => {
  const voices = await AcmeVoices.start()
  const config = { api_key: voices.key, base_url: voices.url }
  return {
    config,
    egress: { refuses: () => false, lookup: () => lookup, maySendTo: () => true },
    script: (ending) => voices.script(ending),
    wrongConfig: { ...config, api_key: "key-of-a-stranger" },
    givenUp: () => voices.givenUp(),
    close: () => voices.stop()
  }
}

for (const { name, run } of voiceConformance(acme, openWorld)) {
  test(name, async (t) => {
    const { notAsked } = await run()
    if (notAsked !== undefined) t.diagnostic(`not asked: ${notAsked}`)
  })
}
