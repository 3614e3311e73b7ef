/**
 * The application that calls are placed through, for accounts that name none. Its key pair is ours and is kept before Vonage learns of it, so that an
 * application whose creation nobody noted is not lost. https://developer.vonage.com/en/api/application.v2
 */
import { createPublicKey, generateKeyPair } from "node:crypto"
import { promisify } from "node:util"
import { Effect } from "effect"
import { type HostedCarrier, openCarrier } from "#adapters/shared/HostedCarrier.ts"
import type { Reply } from "#adapters/shared/HttpClient.ts"
import { at, numberAt, textAt } from "#adapters/shared/Json.ts"
import { isSuccess } from "#adapters/shared/originated.ts"
import { allOf } from "#adapters/shared/pages.ts"
import type { PrepareContext } from "#core/provider/Adapter.ts"
import { API, get, secretAccountOf, type VonageConfig } from "./VonageAccount.ts"
import { detailOf, isNotFound } from "./VonageReplies.ts"

const APPLICATIONS = "/v2/applications"
const generate = promisify(generateKeyPair)

type Carrier = Pick<HostedCarrier, "ask" | "error">

const publicKeyOf = (privateKey: string): string => createPublicKey(privateKey).export({ format: "pem", type: "spki" }).toString()

const applicationsIn = (reply: Reply) => {
  const [count, entries] = [numberAt(reply.body, "total_items"), at(reply.body, "_embedded", "applications")]
  return isSuccess(reply) && count !== undefined && Array.isArray(entries) ? { count, entries } : undefined
}

/** Whether the account still has what was created once. */
const hasApplication = Effect.fnUntraced(function* ({ ask, error }: Carrier, id: string) {
  const reply = yield* ask("prepare", get(`${APPLICATIONS}/${encodeURIComponent(id)}`))
  if (isSuccess(reply) && textAt(reply.body, "id") === id) return true
  return isNotFound(reply) ? false : yield* error("prepare", detailOf(reply))
})

/** An application with this name: with our key if it is ours. */
const find = Effect.fnUntraced(function* (carrier: Carrier, name: string, publicKey: string) {
  const next = (_: number, pages: number) => get(`${APPLICATIONS}?page_size=100&page=${pages + 1}`)
  const named = (yield* allOf(carrier, "prepare", { describe: detailOf, next, read: applicationsIn })).find(
    (one) => textAt(one, "name") === name
  )
  if (named === undefined) return undefined
  if (textAt(named, "keys", "public_key")?.trim() === publicKey.trim()) return textAt(named, "id")
  return yield* carrier.error("prepare", `the application '${name}' exists with another key: delete it, or enter its id and its key`)
})

const create = Effect.fnUntraced(function* ({ ask, error }: Carrier, name: string, publicKey: string, eventUrl: string) {
  const webhook = { address: eventUrl, http_method: "POST" }
  const voice = { webhooks: { answer_url: webhook, event_url: webhook }, signed_callbacks: true }
  const body = { mediaType: "application/json", text: JSON.stringify({ name, keys: { public_key: publicKey }, capabilities: { voice } }) }
  const reply = yield* ask("prepare", { method: "POST", path: APPLICATIONS, body })
  const id = textAt(reply.body, "id")
  return isSuccess(reply) && id !== undefined ? id : yield* error("prepare", detailOf(reply))
})

export const prepare = Effect.fn("vonage.prepare")(function* (
  config: VonageConfig & { readonly created_application_id: string; readonly created_private_key: string },
  { apiOrigin, callbackUrl, egress, name }: PrepareContext
) {
  const { application_id, created_application_id, created_private_key, private_key } = config
  const carrier = yield* openCarrier(secretAccountOf(config, API), { apiOrigin, egress })
  if (application_id !== created_application_id || private_key !== created_private_key)
    return yield* carrier.error("prepare", "an application and its key belong together: enter both, or none")
  if (callbackUrl === undefined) return yield* carrier.error("prepare", "there is no address for its webhooks: set PUBLIC_URL")
  if (created_private_key === "") {
    const { privateKey } = yield* Effect.promise(() => generate("rsa", { modulusLength: 2048 }))
    return { created_private_key: privateKey.export({ format: "pem", type: "pkcs8" }).toString() }
  }
  if (created_application_id !== "" && (yield* hasApplication(carrier, created_application_id))) return { created_application_id }
  const publicKey = publicKeyOf(created_private_key)
  const found = yield* find(carrier, name, publicKey)
  return { created_application_id: found ?? (yield* create(carrier, name, publicKey, callbackUrl("event"))) }
})
