/**
 * Acme Voices, invented voices: one request for each text. The reply is its speech, which is sent while it is made: PCM16 at 24 kHz.
 * Acme exists only in `test/AcmeVoices.ts`.
 */
import { Cause, Effect, Queue, Stream } from "effect"
import { request } from "node:http"
import { Credential, defineTextToSpeech, hostOf, ModelError, portOf, refusedCode, refusesUrl } from "trunkline/adapter"

const PATIENCE_MILLIS = 10_000

const error = (reason, isRetryable, message) => new ModelError({ reason, isRetryable, message })

/** Passes the speech on as it arrives. Incomplete speech is an error, not an end. */
const read = (response, queue) => {
  const fail = (why) => Queue.failCauseUnsafe(queue, Cause.fail(why))
  if (response.statusCode === 401) return fail(error("auth", false, "Acme does not accept the key"))
  if (response.statusCode !== 200) return fail(error("broken", true, `Acme answered ${response.statusCode}`))
  response.on("data", (bytes) => Queue.offerUnsafe(queue, bytes))
  response.on("end", () => Queue.endUnsafe(queue))
  response.on("error", () => fail(error("broken", true, "Acme broke off")))
}

const ask = ({ egress, key, url, voice }, text, queue) => {
  // Node calls `lookup` only for names.
  if (refusesUrl(egress, url)) return Effect.fail(error("refused", false, "the engine may not connect to this address"))
  const open = Effect.sync(() => {
    const headers = { authorization: `Bearer ${key}`, "content-type": "application/json" }
    const options = { method: "POST", host: hostOf(url), port: portOf(url), path: "/speak", headers, timeout: PATIENCE_MILLIS }
    const sent = request({ ...options, lookup: egress.lookup(portOf(url)) })
    sent.on("response", (response) => read(response, queue))
    sent.on("timeout", () => sent.destroy(new Error("Acme is silent")))
    sent.on("error", ({ code }) =>
      Queue.failCauseUnsafe(queue, Cause.fail(error("unreachable", code !== refusedCode, "Acme cannot be reached")))
    )
    sent.end(JSON.stringify({ text, voice }))
    return sent
  })
  // Abandoned speech is stopped, so that it costs nothing.
  return Effect.asVoid(Effect.acquireRelease(open, (sent) => Effect.sync(() => sent.destroy())))
}

export default defineTextToSpeech({
  manifest: {
    contract: 1,
    kind: "tts",
    provider: "acme",
    title: "Acme Voices",
    description: "Invented voices.",
    languages: ["en", "de"]
  },
  fields: {
    api_key: Credential.token({ label: "API key" }),
    base_url: Credential.address({ label: "Base URL", placeholder: "https://voices.acme.example" }),
    voice: Credential.optionalText({ label: "Voice", default: "low", choices: ["low", "high"] })
  },
  check: ({ base_url }) =>
    URL.parse(base_url)?.protocol === "http:" ? [] : [{ field: "base_url", message: "Input should be an http:// address" }],
  speaker: ({ api_key, base_url, voice }, { egress }) => {
    const place = { egress, key: api_key, url: new URL(base_url), voice }
    return {
      provider: "acme",
      voice,
      format: { encoding: "pcm16", rate: 24_000 },
      isCacheable: true,
      ownsQueue: false,
      atOnce: 4,
      speak: (text) => Stream.callback((queue) => ask(place, text, queue))
    }
  }
})
