/**
 * The tools of an organization in its conversations. A tool that calls another service is treated like everything an organization has us send:
 * within the egress policy, without following redirects, and with its credential only to hosts that may receive it. A request is sent once,
 * because its effect may have happened although no answer came.
 */
import { Context, Effect, Layer } from "effect"
import type { ToolAnswer } from "#core/agent/conversation/ConversationState.ts"
import type { HttpToolRequest } from "#core/agent/conversation/HttpTool.ts"
import { mayBeSentTo } from "#core/credential/CredentialHosts.ts"
import { credentialHeader } from "#core/credential/credentialHeader.ts"
import { CredentialSecrets } from "#core/credential/CredentialSecrets.ts"
import type { OrganizationId } from "#core/Id.ts"
import { writtenHeaders } from "#core/webhook/RequestHeaders.ts"
import { whyRefused } from "#core/webhook/WebhookEndpoint.ts"
import { WebhookSender } from "#runtime/webhook/WebhookSender.ts"

/** Far more than a model is given. */
const MOST_BYTES = 256 * 1024
const ownHeaders = [
  ["Accept", "application/json"],
  ["User-Agent", "Trunkline"]
] as const

const failed = (reason: string): ToolAnswer => ({ _tag: "Failed", reason })

const late = "The service did not answer in time."
/** For the model, by the sender's reasons. They reveal nothing about our network. */
const sentences: Readonly<Record<string, string>> = {
  address_not_public: "The service's address may not be connected to.",
  answer_too_large: "The answer of the service is too large.",
  certificate_refused: "The service's certificate is not valid.",
  no_public_address: "The service's address may not be connected to.",
  timeout: late
}
const unreachable = "The service cannot be reached."

export class HttpTools extends Context.Service<
  HttpTools,
  {
    /** Limited by the request's timeout. Interrupting it closes the connection. */
    readonly run: (organizationId: OrganizationId, request: HttpToolRequest) => Effect.Effect<ToolAnswer>
  }
>()("runtime/conversation/HttpTools") {
  static readonly layer = Layer.effect(
    HttpTools,
    Effect.gen(function* () {
      const secrets = yield* CredentialSecrets
      const sender = yield* WebhookSender
      return {
        run: (organizationId, request) =>
          askService(sender, (uuid) => secrets.find(organizationId, uuid), request).pipe(
            Effect.timeoutOrElse({
              duration: request.timeoutMillis,
              orElse: () => Effect.succeed(failed(late))
            })
          )
      }
    })
  )
}

type FindCredential = (uuid: string) => ReturnType<CredentialSecrets["Service"]["find"]>

/** If the credential that the tool names cannot be used, nothing is sent. */
const headersFor = Effect.fnUntraced(function* (find: FindCredential, { credentialUuid, headers, url }: HttpToolRequest) {
  const written = [...ownHeaders, ...headers]
  if (credentialUuid === undefined) return writtenHeaders(written, undefined)
  const found = yield* Effect.catchDefect(find(credentialUuid), () =>
    Effect.as(Effect.logError("the credential of a tool cannot be read", { uuid: credentialUuid }), "unreadable" as const)
  )
  if (found === "unreadable") return "The tool's credential cannot be read."
  if (found === undefined) return "The tool's credential does not exist."
  if (!mayBeSentTo(found.allowedHosts, url)) return "The tool's credential may not be sent to this host."
  return writtenHeaders(written, credentialHeader(found.credentialType, found.data))
})

export const askService = Effect.fnUntraced(function* (sender: WebhookSender["Service"], find: FindCredential, request: HttpToolRequest) {
  const { body, method, timeoutMillis, url } = request
  // Only the URL itself is checked here; the sender checks the address it resolves to.
  if (whyRefused(url) !== undefined) return failed("The tool's URL cannot be used.")
  const headers = yield* headersFor(find, request)
  if (headers === undefined) return failed("The tool's credential cannot be sent.")
  if (typeof headers === "string") return failed(headers)
  const answered = yield* Effect.result(sender.send({ method, url, headers, body, bodyBytes: MOST_BYTES, timeout: timeoutMillis }))
  if (answered._tag === "Failure") {
    const { reason } = answered.failure
    yield* Effect.logInfo("a tool got no answer", { reason })
    return failed(sentences[reason] ?? unreachable)
  }
  const { status } = answered.success
  if (status >= 300 && status <= 399) return failed("The service redirects to another address, which is not followed.")
  return { _tag: "Response", status, body: answered.success.body ?? "" } satisfies ToolAnswer
})
