/**
 * A real engine whose speech and language services are chosen over the API: what is available, what is refused, and whose voice speaks in a
 * call.
 */
import t from "tap"
import { fliteVoices } from "#core/model/VoiceServices.ts"
import { OpenAiEmulator } from "#test/emulators/openai/OpenAiEmulator.ts"
import { until, World } from "#test/support/engine.ts"

const key = "sk-journey-0123456789"
const service = "/user/configurations/user"

t.test("given an engine, and a language model on its machine", async (t) => {
  const emulator = await OpenAiEmulator.start({ apiKey: key })
  t.teardown(() => emulator.stop())
  const world = await World.open(t, { emulator: { ringMillis: 100, talkMillis: 3000, talkOnceHeard: true } })
  const { api } = world
  const llm = { provider: "openai", model: "emulated", api_key: key, base_url: emulator.url }

  t.test("when nothing is configured, then its own services are the default, and there is no recognizer", async (t) => {
    t.match(await api.ask("GET", "/user/configurations/defaults"), {
      status: 200,
      body: {
        llm: { embedded: {}, openai: { required: ["provider", "model"] } },
        tts: { flite: { properties: { voice: { enum: [...fliteVoices] } } } },
        stt: { none: {} },
        default_providers: { llm: "embedded", tts: "flite", stt: "none" }
      }
    })
  })

  t.test("when an impossible service is sent, then it is refused, with its path", async (t) => {
    const refused = async (body: object, ...loc: ReadonlyArray<string>) =>
      t.match(await api.ask("PUT", service, body), { status: 422, body: { detail: [{ loc: ["body", ...loc] }] } })
    await refused({ llm: { ...llm, provider: "acme" } }, "llm", "provider")
    await refused({ llm: { ...llm, model: "" } }, "llm", "model")
    await refused({ llm: { ...llm, base_url: "ftp://127.0.0.1" } }, "llm", "base_url")
    await refused({ llm: { ...llm, base_url: world.engine.url } }, "llm", "base_url")
    await refused({ tts: { provider: "flite", voice: "anna" } }, "tts", "voice")
    t.match(await api.ask("GET", service), { body: { llm: null, tts: null } })
  })

  t.test("when it is configured, then its key is shown to nobody", async (t) => {
    t.match(await api.ask("PUT", service, { llm, tts: { provider: "flite", voice: "rms" } }), { status: 200 })
    const { body } = await api.ask("GET", service)
    t.match(body, { llm: { ...llm, api_key: /^\*+6789$/ } })
    t.match(await api.ask("GET", `${service}/validate`), { status: 200 })
    const [row] = await world.sql<Array<{ text: string }>>`SELECT configuration::text AS text FROM model_configurations`
    t.ok(row !== undefined && !row.text.includes(key) && !row.text.includes(emulator.url), "nor to who reads the database")
    t.notMatch(world.engine.output(), key)
  })

  /** The voice in the call's usage. */
  const spokenBy = async (uuid: string, number: string) => {
    const { body, status } = await api.call(uuid, number)
    t.equal(status, 200)
    const { workflow_run_id } = body as { readonly workflow_run_id: number }
    return until("end of the call", async () => {
      const [run] = await world.sql<Array<{ tts: Readonly<Record<string, number>> }>>`
        SELECT usage_info->'tts' AS tts FROM runs WHERE is_completed AND id = ${workflow_run_id}`
      return run === undefined ? undefined : Object.keys(run.tts)
    })
  }

  t.test(
    "when calls are placed, then the voice is the organization's, another one from the next call on, or the agent's own",
    async (t) => {
      t.strictSame(await spokenBy(world.agentUuid, "+15550000001"), ["flite#0|||rms"])
      await api.ask("PUT", service, { tts: { provider: "flite", voice: "kal16" } })
      t.strictSame(await spokenBy(world.agentUuid, "+15550010001"), ["flite#0|||kal16"])
      const { id } = await api.createAgent("Good morning.", { model_overrides: { tts: { voice: "awb" } } })
      const { body } = await api.ask("GET", `/workflow/fetch/${id}`)
      const { workflow_uuid } = body as { readonly workflow_uuid: string }
      t.strictSame(await spokenBy(workflow_uuid, "+15550020001"), ["flite#0|||awb"])
    }
  )
})
