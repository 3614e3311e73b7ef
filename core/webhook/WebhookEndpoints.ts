/** The webhook endpoints of an organization: creates, changes, tests and deletes them, and replays dead deliveries. */
import { Context, Effect, Layer } from "effect"
import { SecureRandom } from "effect/crypto"
import { Base64 } from "effect/encoding"
import { SqlClient } from "effect/sql"
import { EgressPolicy } from "#core/egress/Egress.ts"
import type { OrganizationId } from "#core/Id.ts"
import { acrossTenants } from "#core/organization/CurrentTenant.ts"
import { Sealer } from "#core/Sealer.ts"
import { addTest } from "#core/event/EventStore.ts"
import {
  TooManyWebhookEndpoints,
  type WebhookDelivery,
  WebhookDeliveryNotDead,
  WebhookDeliveryNotFound,
  type WebhookDeliveryId,
  type WebhookEndpoint,
  WebhookEndpointDisabled,
  type WebhookEndpointId,
  WebhookEndpointNotFound,
  type WebhookEndpointWithSecret,
  WebhookUrlRefused,
  whyRefused
} from "./WebhookEndpoint.ts"
import type { DeliveryQuery, EndpointSettings } from "./WebhookEndpointStore.ts"
import * as store from "./WebhookEndpointStore.ts"

export type { DeliveryQuery, EndpointSettings } from "./WebhookEndpointStore.ts"

const endpointLimit = 50
const replayedAtOnce = 10_000
const removedAtOnce = 5000
/** Within the 24 to 64 bytes that https://www.standardwebhooks.com allows. */
const secretBytes = 32

export class WebhookEndpoints extends Context.Service<
  WebhookEndpoints,
  {
    readonly create: (
      organizationId: OrganizationId,
      settings: EndpointSettings
    ) => Effect.Effect<WebhookEndpointWithSecret, WebhookUrlRefused | TooManyWebhookEndpoints>
    /** Oldest first. */
    readonly list: (organizationId: OrganizationId) => Effect.Effect<ReadonlyArray<WebhookEndpoint>>
    readonly get: (organizationId: OrganizationId, id: WebhookEndpointId) => Effect.Effect<WebhookEndpoint, WebhookEndpointNotFound>
    readonly update: (
      organizationId: OrganizationId,
      id: WebhookEndpointId,
      to: Partial<EndpointSettings>
    ) => Effect.Effect<WebhookEndpoint, WebhookEndpointNotFound | WebhookUrlRefused>
    /** Deletes the endpoint and all its deliveries. */
    readonly remove: (organizationId: OrganizationId, id: WebhookEndpointId) => Effect.Effect<void, WebhookEndpointNotFound>
    /** Replaces the secret. For a day, deliveries are also signed with the previous one. */
    readonly rotate: (
      organizationId: OrganizationId,
      id: WebhookEndpointId
    ) => Effect.Effect<WebhookEndpointWithSecret, WebhookEndpointNotFound>
    /** Sends a `webhook.test` event, which takes the same path as any other event, to this endpoint only. */
    readonly test: (
      organizationId: OrganizationId,
      id: WebhookEndpointId
    ) => Effect.Effect<void, WebhookEndpointNotFound | WebhookEndpointDisabled>
    /** Newest first. */
    readonly deliveries: (
      organizationId: OrganizationId,
      id: WebhookEndpointId,
      query: DeliveryQuery
    ) => Effect.Effect<ReadonlyArray<WebhookDelivery>, WebhookEndpointNotFound>
    readonly replay: (
      organizationId: OrganizationId,
      id: WebhookEndpointId,
      deliveryId: WebhookDeliveryId
    ) => Effect.Effect<void, WebhookDeliveryNotFound | WebhookDeliveryNotDead | WebhookEndpointNotFound>
    /** Replays all dead deliveries, at most ten thousand at once, and returns how many there were. */
    readonly replayAll: (organizationId: OrganizationId, id: WebhookEndpointId) => Effect.Effect<number, WebhookEndpointNotFound>
  }
>()("core/webhook/WebhookEndpoints") {
  static readonly layer = Layer.effect(
    WebhookEndpoints,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const { webhooks } = yield* EgressPolicy
      const random = yield* SecureRandom.SecureRandom
      const sealer = yield* Sealer
      const sealing = Effect.provideService(Sealer, sealer)
      const newSecret = Effect.map(random.randomBytes(secretBytes), (bytes) => `whsec_${Base64.encode(bytes)}`)
      const checkUrl = (url: string) => {
        const reason = whyRefused(url, webhooks)
        return reason === undefined ? Effect.void : Effect.fail(new WebhookUrlRefused({ reason }))
      }
      const found = Effect.fnUntraced(function* <A, E>(id: WebhookEndpointId, looked: Effect.Effect<A | undefined, E>) {
        return (yield* Effect.orDie(looked)) ?? (yield* new WebhookEndpointNotFound({ id }))
      })
      const get = (organizationId: OrganizationId, id: WebhookEndpointId) => found(id, store.find(sql, sealer, organizationId, id))

      return WebhookEndpoints.of({
        create: Effect.fn("WebhookEndpoints.create")(function* (organizationId, settings) {
          yield* checkUrl(settings.url)
          return yield* sealing(create(sql, organizationId, settings, yield* newSecret))
        }),
        list: Effect.fn("WebhookEndpoints.list")((organizationId) => Effect.orDie(store.list(sql, sealer, organizationId, endpointLimit))),
        get: Effect.fn("WebhookEndpoints.get")(get),
        update: Effect.fn("WebhookEndpoints.update")(function* (organizationId, id, to) {
          yield* get(organizationId, id)
          if (to.url !== undefined) yield* checkUrl(to.url)
          return yield* found(id, store.update(sql, sealer, organizationId, id, to))
        }),
        remove: Effect.fn("WebhookEndpoints.remove")(function* (organizationId, id) {
          yield* remove(sql, organizationId, id)
        }),
        rotate: Effect.fn("WebhookEndpoints.rotate")(function* (organizationId, id) {
          return yield* found(id, sealing(store.rotate(sql, organizationId, id, yield* newSecret)))
        }),
        test: Effect.fn("WebhookEndpoints.test")(function* (organizationId, id) {
          const { enabled } = yield* get(organizationId, id)
          if (!enabled) return yield* new WebhookEndpointDisabled()
          yield* acrossTenants(Effect.orDie(addTest(sql, organizationId, id)))
        }),
        deliveries: Effect.fn("WebhookEndpoints.deliveries")(function* (organizationId, id, query) {
          yield* get(organizationId, id)
          return yield* Effect.orDie(store.deliveries(sql, organizationId, id, query))
        }),
        replay: Effect.fn("WebhookEndpoints.replay")(function* (organizationId, id, deliveryId) {
          yield* get(organizationId, id)
          const replayed = yield* Effect.orDie(store.replay(sql, organizationId, id, { id: deliveryId, limit: 1 }))
          if (replayed > 0) return
          const state = yield* Effect.orDie(store.deliveryState(sql, organizationId, id, deliveryId))
          return yield* state === undefined ? new WebhookDeliveryNotFound({ id: deliveryId }) : new WebhookDeliveryNotDead({ state })
        }),
        replayAll: Effect.fn("WebhookEndpoints.replayAll")(function* (organizationId, id) {
          yield* get(organizationId, id)
          return yield* Effect.orDie(store.replay(sql, organizationId, id, { id: undefined, limit: replayedAtOnce }))
        })
      })
    })
  ).pipe(Layer.provide(SecureRandom.layerWebCrypto))
}

/** Deletes in batches, so that deliveries to other endpoints do not wait for it. If it is interrupted, the next request continues. */
const remove = Effect.fnUntraced(function* (sql: SqlClient.SqlClient, organizationId: OrganizationId, id: WebhookEndpointId) {
  if (!(yield* Effect.orDie(store.disable(sql, organizationId, id)))) return yield* new WebhookEndpointNotFound({ id })
  while ((yield* Effect.orDie(store.removeDeliveries(sql, organizationId, id, removedAtOnce))) === removedAtOnce) yield* Effect.yieldNow
  yield* Effect.orDie(store.remove(sql, organizationId, id))
})

const create = Effect.fnUntraced(
  function* (sql: SqlClient.SqlClient, organizationId: OrganizationId, settings: EndpointSettings, secret: string) {
    yield* store.lock(sql, organizationId)
    if ((yield* store.count(sql, organizationId)) >= endpointLimit) return yield* new TooManyWebhookEndpoints({ limit: endpointLimit })
    const endpoint = yield* store.insert(sql, organizationId, settings, secret)
    return endpoint ?? (yield* Effect.die("An inserted webhook endpoint was not returned"))
  },
  (create, sql) => sql.withTransaction(create).pipe(Effect.catchTag("SqlError", Effect.die))
)
