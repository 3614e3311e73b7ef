/** One fetch before a call: what it requests and from whom, and what can go wrong with the answer. */
import { Effect, Layer } from "effect"
import { createServer, type IncomingHttpHeaders, type ServerResponse } from "node:http"
import type { AddressInfo } from "node:net"
import t, { type Test } from "tap"
import { OrganizationId } from "#core/Id.ts"
import { CredentialSecrets } from "#core/credential/CredentialSecrets.ts"
import { ContextFetcher, type Question } from "#runtime/call/ContextFetcher.ts"
import { NoAnswer, WebhookSender } from "#runtime/webhook/WebhookSender.ts"
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
const outcomeOf = (fetcher: Fetcher, changes: Partial<Question> = {}) =>
  ContextFetcher.use((_) => _.fetch({ ...question, ...changes })).pipe(
    Effect.catchTag("NothingFetched", ({ reason }) => Effect.succeed(reason)),
    Effect.provide(fetcherOf(fetcher))
  )

t.test("given anything that may be wrong, when it is fetched, then a word says so, and nothing is sent that should not be", async (t) => {
  const comes = async (fetcher: Fetcher, changes: object, expected: unknown, name: string) =>
    t.strictSame(await runLive(outcomeOf(fetcher, changes)), expected, name)
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

interface Asked {
  readonly method: string | undefined
  readonly path: string | undefined
  readonly headers: IncomingHttpHeaders
  readonly body: string
}
/** A server on this machine that answers as the test says. */
const serverOf = async (t: Test, answers: (response: ServerResponse) => void) => {
  const asked: Array<Asked> = []
  const server = createServer((request, response) => {
    let body = ""
    request.on("data", (chunk: Buffer) => {
      body += chunk.toString()
    })
    request.on("end", () => {
      asked.push({ method: request.method, path: request.url, headers: request.headers, body })
      answers(response)
    })
  })
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
  t.teardown(() => {
    server.close()
    server.closeAllConnections()
  })
  // The cast holds because a server that listens on a port has such an address.
  return { asked, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/contacts?a=1` }
}
/** Sends the request through the engine's own sender. */
const asks = (url: string, privateTargets = true, credential: Fetcher["credential"] = unused) =>
  runLive(
    ContextFetcher.use((_) =>
      _.fetch({ ...question, url, credentialUuid: credential === unused ? undefined : "c-1", body: '{"event":"x"}' })
    ).pipe(
      Effect.catchTag("NothingFetched", ({ reason }) => Effect.succeed(reason)),
      Effect.provide(
        ContextFetcher.layer.pipe(
          Layer.provide([
            Layer.succeed(CredentialSecrets, { find: () => credential }),
            WebhookSender.layer.pipe(Layer.provide(egress({ privateWebhooks: privateTargets })))
          ])
        )
      )
    )
  )

t.test("given a server that knows the contact, when it gets the request, then with the credential, and its answer is read", async (t) => {
  const { asked, url } = await serverOf(t, (response) => {
    response.writeHead(200)
    const body = Buffer.from('{"call_inbound":{"initial_context":{"name":"Zoë"}}}')
    // Split in the middle of a character.
    const half = body.indexOf("ë") + 1
    response.write(body.subarray(0, half), () => response.end(body.subarray(half)))
  })
  const credential = Effect.succeed({
    credentialType: "bearer_token" as const,
    data: { token: "s3cret" },
    allowedHosts: [new URL(url).host]
  })
  t.strictSame(await asks(url, true, credential), { name: "Zoë" })
  t.match(asked, [{ method: "POST", path: "/contacts?a=1", body: '{"event":"x"}' }])
  t.match(asked[0]?.headers, { authorization: "Bearer s3cret", "content-type": "application/json" })
  t.equal(await asks(url, false), "address_not_public", "not where webhooks may not go")
  t.equal(asked.length, 1)
})

t.test("given answers of different sizes, when they are read, then at most 256 KiB are read", async (t) => {
  const most = 256 * 1024
  const frame = '{"initial_context":{"a":""}}'
  let bytes = most
  const { url } = await serverOf(t, (response) => {
    response.end(frame.replace('""', `"${"x".repeat(bytes - frame.length)}"`))
  })
  t.match(await asks(url), { a: /^x+$/ })
  bytes = most + 1
  t.equal(await asks(url), "answer_too_large")
  const unending = await serverOf(t, (response) => {
    const more = () => {
      if (response.writableEnded || response.destroyed) return
      response.write("x".repeat(65_536))
      setImmediate(more)
    }
    more()
  })
  t.equal(await asks(unending.url), "answer_too_large", "it never ends")
})

t.test("given an answer that redirects or breaks off, then it does not count", async (t) => {
  const elsewhere = await serverOf(t, (response) => {
    response.writeHead(302, { location: "/other" }).end('{"initial_context":{"a":1}}')
  })
  t.equal(await asks(elsewhere.url), "status_302")
  t.equal(elsewhere.asked.length, 1, "it is not followed")
  const broken = await serverOf(t, (response) => {
    response.writeHead(200, { "content-length": "100" })
    response.write('{"initial_context":{}}', () => response.destroy())
  })
  t.equal(await asks(broken.url), "connection_lost")
})

t.test("given a request under way, when the call is over, then its connection is closed", async (t) => {
  let isClosed = false
  const { asked, url } = await serverOf(t, (response) => {
    response.on("close", () => {
      isClosed = true
    })
  })
  const sender = WebhookSender.layer.pipe(Layer.provide(egress({ privateWebhooks: true })))
  const secrets = Layer.succeed(CredentialSecrets, { find: () => unused })
  await runLive(
    Effect.gen(function* () {
      const fetcher = yield* ContextFetcher
      const fiber = yield* Effect.forkChild(fetcher.fetch({ ...question, url }))
      yield* Effect.promise(() => untilTrue("request", () => asked.length === 1))
      fiber.interruptUnsafe()
      yield* Effect.promise(() => untilTrue("end of the connection", () => isClosed))
    }).pipe(Effect.provide(ContextFetcher.layer.pipe(Layer.provide([secrets, sender]))))
  )
  t.ok(isClosed)
})
