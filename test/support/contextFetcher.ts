import { Effect, Layer } from "effect"
import { CredentialSecrets, type FoundCredential } from "#core/credential/CredentialSecrets.ts"
import { ContextFetcher } from "#runtime/call/ContextFetcher.ts"
import { WebhookSender } from "#runtime/webhook/WebhookSender.ts"

export interface Fetcher {
  readonly send?: WebhookSender["Service"]["send"]
  readonly credential?: Effect.Effect<FoundCredential | undefined>
}
export const unused = Effect.die("not asked for")
export const fetcherOf = ({ credential = unused, send = () => unused }: Fetcher) =>
  ContextFetcher.layer.pipe(
    Layer.provide([Layer.succeed(CredentialSecrets, { find: () => credential }), Layer.succeed(WebhookSender, { send })])
  )
