/** One fetch before a call: what it requests and from whom, and what can go wrong with the answer. */
import { Effect, Layer } from "effect"
import t from "tap"
import { OrganizationId } from "#core/Id.ts"
import { CredentialSecrets } from "#core/credential/CredentialSecrets.ts"
import { ContextFetcher, type Question } from "#runtime/call/ContextFetcher.ts"
import { NoAnswer, WebhookSender } from "#runtime/webhook/WebhookSender.ts"
import { answeringServer, endless } from "#test/support/answeringServer.ts"
import { egress } from "#test/support/egress.ts"
import { type Fetcher, fetcherOf, unused } from "#test/support/contextFetcher.ts"
import { untilTrue } from "#test/support/engine.ts"
import { runLive } from "#test/support/run.ts"

const answer =
  (body: string, status = 200): NonNullable<Fetcher["send"]> =>
  () =>
    Effect.succeed({ status, retryAfter: "", body })
const question = { url: "https://crm.example/contacts", credentialUuid: undefined, organizationId: OrganizationId.make(1), body: "{}" }
/** The context, or a word for the reason why there is none. */
const fetched = (changes: Partial<Question>) =>
  ContextFetcher.use((_) => _.fetch({ ...question, ...changes })).pipe(
    Effect.catchTag("NothingFetched", ({ reason }) => Effect.succeed(reason))
  )

t.test("given anything that may be wrong, when it is fetched, then a word says so, and nothing is sent that should not be", async (t) => {
  const comes = async (fetcher: Fetcher, changes: object, expected: unknown, name: string) =>
    t.strictSame(await runLive(fetched(changes).pipe(Effect.provide(fetcherOf(fetcher)))), expected, name)
  const good = '{"initial_context":{"a":1}}'
  await comes({ send: answer(good) }, {}, { a: 1 }, "nothing")
  await comes({ send: answer(good, 201) }, {}, { a: 1 }, "created")
  for (const status of [301, 302, 404, 500]) await comes({ send: answer(good, status) }, {}, `status_${status}`, `status ${status}`)
  for (const body of ["", "x", "[]", '{"initial_context":5}']) await comes({ send: answer(body) }, {}, "answer_unusable", body)
  await comes({ send: () => Effect.fail(new NoAnswer({ reason: "connection_refused" })) }, {}, "connection_refused", "nobody there")
  for (const url of ["ftp://crm.example/", "crm", "https://u:p@crm.example/"]) await comes({}, { url }, "url_refused", url)
  const named = { credentialUuid: "c-1" }
  await comes({ credential: Effect.undefined }, named, "credential_not_found", "a credential that was deleted")
  const odd = {
    credentialType: "custom_header" as const,
    data: { header_name: "Content-Length", header_value: "1" },
    allowedHosts: ["crm.example"]
  }
  await comes(
    { credential: Effect.succeed({ ...odd, allowedHosts: ["other.example"] }) },
    named,
    "credential_host_refused",
    "another host's"
  )
  await comes({ credential: Effect.succeed(odd) }, named, "credential_unusable", "a credential that is no header")
})

/** Uses the engine's own sender. */
const sending = (privateWebhooks: boolean, credential: Fetcher["credential"] = unused) =>
  ContextFetcher.layer.pipe(
    Layer.provide([
      Layer.succeed(CredentialSecrets, { find: () => credential }),
      WebhookSender.layer.pipe(Layer.provide(egress({ privateWebhooks })))
    ])
  )
const asks = (url: string, privateTargets = true) => runLive(fetched({ url }).pipe(Effect.provide(sending(privateTargets))))

t.test("given a server that knows the contact, when it gets the request, then with the credential, and its answer is read", async (t) => {
  const { asked, url } = await answeringServer(t, (response) => {
    const body = Buffer.from('{"call_inbound":{"initial_context":{"name":"Zoë"}}}')
    // Split in the middle of a character.
    const half = body.indexOf("ë") + 1
    response.write(body.subarray(0, half), () => response.end(body.subarray(half)))
  })
  const credentialType = "bearer_token" as const
  const credential = Effect.succeed({ credentialType, data: { token: "s3cret" }, allowedHosts: [new URL(url).host] })
  const asking = fetched({ url: `${url}/contacts?a=1`, credentialUuid: "c-1", body: '{"event":"x"}' })
  t.strictSame(await runLive(asking.pipe(Effect.provide(sending(true, credential)))), { name: "Zoë" })
  t.match(asked, [{ line: "POST /contacts?a=1", body: '{"event":"x"}' }])
  t.match(asked[0]?.headers, { authorization: "Bearer s3cret", "content-type": "application/json" })
  t.equal(await asks(url, false), "address_not_public", "not where webhooks may not go")
  t.equal(asked.length, 1)
})

t.test("given answers of different sizes, when they are read, then at most 256 KiB are read", async (t) => {
  const most = 256 * 1024
  const frame = '{"initial_context":{"a":""}}'
  let bytes = most
  const { url } = await answeringServer(t, (response) => response.end(frame.replace('""', `"${"x".repeat(bytes - frame.length)}"`)))
  t.match(await asks(url), { a: /^x+$/ })
  bytes = most + 1
  t.equal(await asks(url), "answer_too_large")
  t.equal(await asks((await answeringServer(t, endless)).url), "answer_too_large", "it never ends")
})

t.test("given an answer that breaks off, then it does not count", async (t) => {
  const broken = await answeringServer(t, (response) => {
    response.writeHead(200, { "content-length": "100" }).write('{"initial_context":{}}', () => response.destroy())
  })
  t.equal(await asks(broken.url), "connection_lost")
})

t.test("given a request under way, when the call is over, then its connection is closed", async (t) => {
  let isClosed = false
  const { asked, url } = await answeringServer(t, (response) => response.on("close", () => void (isClosed = true)))
  await runLive(
    Effect.gen(function* () {
      const fiber = yield* Effect.forkChild(fetched({ url }))
      yield* Effect.promise(() => untilTrue("request", () => asked.length === 1))
      fiber.interruptUnsafe()
      yield* Effect.promise(() => untilTrue("end of the connection", () => isClosed))
    }).pipe(Effect.provide(sending(true)))
  )
  t.ok(isClosed)
})
