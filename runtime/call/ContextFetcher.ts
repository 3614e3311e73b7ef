/** Asks the agent owner's server what the agent should know about a call. One request, never repeated, with ten seconds for everything. */
import { Context, Effect, Layer, Schema } from "effect"
import type { JsonObject } from "#core/Json.ts"
import type { PreCallFetch } from "#core/agent/PreCallFetch.ts"
import { fetchedContextOf } from "#core/call/PreCallFetch.ts"
import { writtenHeaders } from "#core/webhook/RequestHeaders.ts"
import { whyRefused } from "#core/webhook/WebhookEndpoint.ts"
import type { OrganizationId } from "#core/Id.ts"
import { mayBeSentTo } from "#core/credential/CredentialHosts.ts"
import { credentialHeader } from "#core/credential/credentialHeader.ts"
import { CredentialSecrets } from "#core/credential/CredentialSecrets.ts"
import { WebhookSender } from "#runtime/webhook/WebhookSender.ts"

const TIMEOUT = "10 seconds"
const MOST_BYTES = 256 * 1024
const ownHeaders = [
  ["Content-Type", "application/json"],
  ["Accept", "application/json"],
  ["User-Agent", "Trunkline"]
] as const

/** The reason is a short word for the agent's owner. It reveals nothing about our network or the answer. */
export class NothingFetched extends Schema.TaggedError<NothingFetched>()("NothingFetched", { reason: Schema.String }) {
  override get message(): string {
    return `nothing fetched: ${this.reason}`
  }
}
const nothing = (reason: string) => new NothingFetched({ reason })

export interface Question extends PreCallFetch {
  readonly organizationId: OrganizationId
  readonly body: string
}

export class ContextFetcher extends Context.Service<
  ContextFetcher,
  { readonly fetch: (question: Question) => Effect.Effect<JsonObject, NothingFetched> }
>()("runtime/call/ContextFetcher") {
  static readonly layer = Layer.effect(
    ContextFetcher,
    Effect.gen(function* () {
      const secrets = yield* CredentialSecrets
      const sender = yield* WebhookSender

      /** Fails if the credential that the agent names cannot be used; nothing is sent then. */
      const headersFor = Effect.fnUntraced(function* ({ credentialUuid, organizationId, url }: Question) {
        if (credentialUuid === undefined) return writtenHeaders(ownHeaders, undefined)
        const found = yield* secrets.find(organizationId, credentialUuid)
        if (found === undefined) return yield* nothing("credential_not_found")
        if (!mayBeSentTo(found.allowedHosts, url)) return yield* nothing("credential_host_refused")
        return writtenHeaders(ownHeaders, credentialHeader(found.credentialType, found.data))
      })

      const ask = Effect.fnUntraced(function* (question: Question) {
        const { body, url } = question
        // Only the URL itself is checked here; the sender checks the address it resolves to.
        if (whyRefused(url) !== undefined) return yield* nothing("url_refused")
        const headers = yield* headersFor(question)
        if (headers === undefined) return yield* nothing("credential_unusable")
        const answer = yield* sender
          .send({ url, headers, body, bodyBytes: MOST_BYTES, timeout: TIMEOUT })
          .pipe(Effect.mapError(({ reason }) => nothing(reason)))
        if (answer.status < 200 || answer.status > 299) return yield* nothing(`status_${answer.status}`)
        return fetchedContextOf(answer.body ?? "") ?? (yield* nothing("answer_unusable"))
      })

      return {
        fetch: (question) => Effect.timeoutOrElse(ask(question), { duration: TIMEOUT, orElse: () => Effect.fail(nothing("timeout")) })
      }
    })
  )
}
