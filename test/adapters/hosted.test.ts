/** The receiver of callbacks in tests answers like the gateway. */
import { Effect } from "effect"
import t from "tap"
import { type Adapter, ProviderError } from "#core/provider/Adapter.ts"
import { Hosted, OUR_NUMBER } from "./hosted.ts"

const unserved = (operation: string) => Effect.fail(new ProviderError({ provider: "acme", operation, detail: "not served" }))

/** A carrier that accepts every call, and whose callbacks say what they mean. */
const acme: Adapter = {
  manifest: { contract: 2, provider: "acme", displayName: "Acme", docsUrl: "", callsPerSecond: 1, originatesInFlight: 1 },
  fields: {},
  connect: (_, { callbackUrl, onStatus }) =>
    Effect.sync(() => {
      onStatus({ _tag: "Up" })
      return {
        originate: ({ callId, leave }) => Effect.sync(() => ({ providerCallId: `${leave()} ${callbackUrl?.("status", callId)}` })),
        hangup: () => unserved("hangup"),
        lookup: () => unserved("lookup"),
        sendDtmf: () => unserved("sendDtmf"),
        adopt: () => {}
      }
    }),
  read: (_, { body, kind }) => {
    const text = Buffer.from(body).toString()
    if (text === "unreadable") throw new Error("unreadable")
    if (text === "forged") return undefined
    return { events: [{ event: { _tag: "Rang" } }], reply: { mediaType: "text/xml", body: `<${kind}/>` } }
  }
}

t.test("given a hosted line", async (t) => {
  const hosted = await Hosted.up(acme, {}, { apiOrigin: "http://127.0.0.1:1" })
  t.teardown(() => hosted.close())
  const { callId } = await hosted.originate("+15550001001")
  t.match(hosted.ref(callId), { callId, from: OUR_NUMBER, to: "+15550001001", providerCallId: `true ${hosted.address("status", callId)}` })
  const post = async (body: string) => {
    const response = await fetch(hosted.address("status", callId), { method: "POST", body })
    return `${response.status} ${await response.text()}`
  }
  t.strictSame([await post("forged"), await post("unreadable"), await post("ring")], ["403 ", "400 ", "200 <status/>"])
  t.strictSame(hosted.line.story(callId), ["Rang"])
  t.match(hosted.received.at(-1), { callback: { kind: "status", isWanted: true, call: { callId }, url: hosted.address("status", callId) } })
  hosted.failures = 1
  t.equal(await post("ring"), "503 ")
  t.match([await hosted.lookup(hosted.ref(callId)), await hosted.hangup(hosted.ref(callId))], ["silent", { _tag: "ProviderError" }])
  await hosted.restart()
  t.strictSame(hosted.line.story(callId), [])
  t.equal(hosted.ref(callId).to, "+15550001001", "then the reference is still there")
})
