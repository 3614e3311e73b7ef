/** An organization that wants nothing to be kept of what is said: neither sound nor words of its calls are on the disk or in the database. */
import { globSync } from "node:fs"
import { join } from "node:path"
import t from "tap"
import { aloud, numbersOf, untilTrue, World } from "#test/support/engine.ts"

t.test(
  "given calls with a greeting, when their organization has recordings and transcripts off, then their runs have neither",
  async (t) => {
    const world = await World.open(t, { emulator: { ringMillis: 100, talkMillis: 3000, talkOnceHeard: true }, greeting: aloud })
    const { api, dataDir, sql } = world
    const settings = { concurrency_limit: 10, concurrency_reserve: 0 }
    const call = async () => {
      const campaign = await world.campaign(numbersOf(1, ["01"]), { retry: { maxRetries: 0 } })
      await api.start(campaign.id)
      await api.untilState(campaign.id, "completed")
      const [run] = await sql`SELECT recording_key, transcript_key, logs, usage_info FROM runs WHERE campaign_id = ${campaign.id}`
      return run ?? {}
    }
    const filesOf = () => globSync(join(dataDir, "files", "{recordings,transcripts}", "*"))

    t.match(await api.ask("PUT", "/organizations/settings", { ...settings, recordings_enabled: false, transcripts_enabled: false }), {
      status: 200
    })
    const silent = await call()
    t.match(silent, { recording_key: null, transcript_key: null })
    t.ok(Object.keys(silent["usage_info"].tts).length > 0, "although the callee was greeted")
    t.notMatch(JSON.stringify(silent["logs"]), /rtf-bot-text|rtf-user-transcription/)
    t.strictSame(filesOf(), [])

    t.match(await api.ask("PUT", "/organizations/settings", { ...settings, recordings_enabled: true, transcripts_enabled: true }), {
      status: 200
    })
    const kept = await call()
    t.match(kept, { recording_key: /^recordings\//, transcript_key: /^transcripts\// }, "then both are kept again once they are turned on")
    t.match(JSON.stringify(kept["logs"]), /rtf-bot-text/)
    await untilTrue("both files", () => filesOf().length === 2)
  }
)
