/**
 * The application that calls are placed through, for accounts that name none. Its key pair is ours and is kept before Vonage learns of it, so that an
 * application whose creation nobody noted is not lost. https://developer.vonage.com/en/api/application.v2
 */
import { createPublicKey, generateKeyPair } from "node:crypto"
import { promisify } from "node:util"
import { Effect } from "effect"
import { openCarrier } from "#adapters/shared/HostedCarrier.ts"
import { textAt } from "#adapters/shared/Json.ts"
import { ownApplication } from "#adapters/shared/ownApplication.ts"
import { allOf } from "#adapters/shared/pages.ts"
import { get } from "#adapters/shared/requests.ts"
import type { PrepareContext } from "#core/provider/Adapter.ts"
import { APPLICATIONS, secretAccountOf, type VonageConfig } from "./VonageAccount.ts"
import { applicationsIn } from "./VonageReplies.ts"

const generate = promisify(generateKeyPair)

const publicKeyOf = (privateKey: string): string => createPublicKey(privateKey).export({ format: "pem", type: "spki" }).toString().trim()

export const prepare = Effect.fn("vonage.prepare")(function* (config: VonageConfig, context: PrepareContext) {
  const { application_id, created_application_id: created, created_private_key, private_key } = config
  const carrier = yield* openCarrier(secretAccountOf(config), context)
  if (application_id !== created || private_key !== created_private_key)
    return yield* carrier.error("prepare", "an application and its key belong together: enter both, or none")
  if (created_private_key === "" && context.callbackUrl !== undefined) {
    const { privateKey } = yield* Effect.promise(() => generate("rsa", { modulusLength: 2048 }))
    return { created_private_key: privateKey.export({ format: "pem", type: "pkcs8" }).toString() }
  }
  const created_application_id = yield* ownApplication(carrier, context, created, {
    path: APPLICATIONS,
    shownIn: (body) => body,
    list: () => allOf(carrier, "prepare", ({ pages }) => get(APPLICATIONS, { page_size: "100", page: String(pages + 1) }), applicationsIn),
    nameMember: "name",
    foreign: (one) =>
      textAt(one, "keys", "public_key")?.trim() === publicKeyOf(created_private_key)
        ? undefined
        : `the application '${context.name}' exists with another key: delete it, or enter its id and its key`,
    members: (address) => Effect.succeed(membersOf(address, publicKeyOf(created_private_key)))
  })
  return { created_application_id }
})

const membersOf = (address: string, public_key: string) => {
  const webhook = { address, http_method: "POST" }
  const voice = { webhooks: { answer_url: webhook, event_url: webhook }, signed_callbacks: true }
  return { keys: { public_key }, capabilities: { voice } }
}
