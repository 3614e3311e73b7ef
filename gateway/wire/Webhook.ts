/** Webhook endpoints and the state of their deliveries. */
import Type, { type Static } from "typebox"
import { type EventId, type EventType, eventTypes } from "#core/event/Event.ts"
import {
  deliveryStates,
  type WebhookDelivery,
  type WebhookDeliveryId,
  type WebhookEndpoint,
  type WebhookEndpointId,
  type WebhookEndpointWithSecret
} from "#core/webhook/WebhookEndpoint.ts"
import type { DeliveryQuery, EndpointSettings } from "#core/webhook/WebhookEndpoints.ts"
import { id, instant, instantOf, nullable, optional, orNull, orUndefined } from "#gateway/request/Field.ts"

export const WebhookEndpointPath = Type.Object({ endpoint_id: id<WebhookEndpointId>() })

/** The id of a row in a table whose ids exceed 32 bits. */
const bigId = <Id extends number>() => Type.Unsafe<Id>(Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER }))
export const WebhookDeliveryPath = Type.Object({ endpoint_id: id<WebhookEndpointId>(), delivery_id: bigId<WebhookDeliveryId>() })

const url = Type.String({ minLength: 1, maxLength: 2048, description: "`https://` or `http://`, at a public address." })
const description = Type.String({ maxLength: 255 })
const choices = eventTypes.filter((type) => type !== "webhook.test")
const eventTypeList = Type.Array(Type.Enum(choices), { maxItems: choices.length, description: "Empty: every type." })

export const CreateWebhookEndpoint = Type.Object(
  {
    url,
    description: Type.String({ maxLength: 255, default: "" }),
    event_types: Type.Array(Type.Enum(choices), { maxItems: choices.length, default: [], description: "Empty: every type." }),
    enabled: Type.Boolean({ default: true })
  },
  { title: "CreateWebhookEndpoint" }
)
export const settingsOf = (body: Static<typeof CreateWebhookEndpoint>): EndpointSettings => ({
  url: body.url,
  description: body.description,
  eventTypes: body.event_types,
  enabled: body.enabled
})

export const UpdateWebhookEndpoint = Type.Object(
  { url: optional(url), description: optional(description), event_types: optional(eventTypeList), enabled: optional(Type.Boolean()) },
  { title: "UpdateWebhookEndpoint" }
)
/** Null leaves a field as it is. */
export const changesOf = (body: Static<typeof UpdateWebhookEndpoint>): Partial<EndpointSettings> => ({
  ...(body.url === null ? {} : { url: body.url }),
  ...(body.description === null ? {} : { description: body.description }),
  ...(body.event_types === null ? {} : { eventTypes: body.event_types }),
  ...(body.enabled === null ? {} : { enabled: body.enabled })
})

const endpointFields = {
  id: id<WebhookEndpointId>(),
  url: Type.String(),
  description: Type.String(),
  event_types: Type.Array(Type.Unsafe<EventType>(Type.Enum([...eventTypes]))),
  enabled: Type.Boolean(),
  disabled_reason: nullable(Type.Literal("gone", { description: "The endpoint has answered 410." })),
  created_at: instant(),
  updated_at: instant()
}
export const WebhookEndpointWire = Type.Object(endpointFields, { title: "WebhookEndpoint" })
export const WebhookEndpointSecretWire = Type.Object(
  { ...endpointFields, secret: Type.String({ description: "Shown only now." }) },
  { title: "WebhookEndpointWithSecret" }
)
export const WebhookEndpointList = Type.Object({ endpoints: Type.Array(WebhookEndpointWire) }, { title: "WebhookEndpointList" })

export const endpointWire = (endpoint: WebhookEndpoint): Static<typeof WebhookEndpointWire> => ({
  id: endpoint.id,
  url: endpoint.url,
  description: endpoint.description,
  event_types: [...endpoint.eventTypes],
  enabled: endpoint.enabled,
  disabled_reason: orNull(endpoint.disabledReason),
  created_at: endpoint.createdAt.toISOString(),
  updated_at: endpoint.updatedAt.toISOString()
})
export const endpointSecretWire = (endpoint: WebhookEndpointWithSecret): Static<typeof WebhookEndpointSecretWire> => ({
  ...endpointWire(endpoint),
  secret: endpoint.secret
})

export const WebhookDeliveryQuery = Type.Object({
  state: optional(Type.Enum([...deliveryStates])),
  before_id: optional(Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER, description: "Only deliveries older than this one." })),
  limit: Type.Integer({ minimum: 1, maximum: 100, default: 50 })
})
export const deliveryQueryOf = (query: Static<typeof WebhookDeliveryQuery>): DeliveryQuery => ({
  state: orUndefined(query.state),
  // A position in the list, not necessarily the id of a delivery.
  before: orUndefined(query.before_id) as WebhookDeliveryId | undefined,
  limit: query.limit
})

const WebhookDeliveryWire = Type.Object(
  {
    id: bigId<WebhookDeliveryId>(),
    endpoint_id: id<WebhookEndpointId>(),
    event_id: Type.Unsafe<EventId>(bigId<EventId>()),
    event_type: Type.String(),
    subject: Type.String(),
    state: Type.Enum([...deliveryStates]),
    attempts: Type.Integer(),
    next_attempt_at: nullable(instant()),
    last_attempt_at: nullable(instant()),
    last_status: nullable(Type.Integer({ description: "HTTP status; null when there was no answer." })),
    last_error: nullable(Type.String()),
    created_at: instant()
  },
  { title: "WebhookDelivery" }
)
export const WebhookDeliveryList = Type.Object({ deliveries: Type.Array(WebhookDeliveryWire) }, { title: "WebhookDeliveryList" })

export const deliveryWire = (delivery: WebhookDelivery): Static<typeof WebhookDeliveryWire> => ({
  id: delivery.id,
  endpoint_id: delivery.endpointId,
  event_id: delivery.eventId,
  event_type: delivery.eventType,
  subject: delivery.subject,
  state: delivery.state,
  attempts: delivery.attempts,
  next_attempt_at: delivery.state === "pending" ? delivery.dueAt.toISOString() : null,
  last_attempt_at: instantOf(delivery.lastAttemptAt),
  last_status: orNull(delivery.lastStatus),
  last_error: orNull(delivery.lastError),
  created_at: delivery.createdAt.toISOString()
})

export const Queued = Type.Object({ queued: Type.Integer({ description: "Deliveries that will be sent." }) }, { title: "QueuedDeliveries" })
export const Deleted = Type.Object({ message: Type.String() }, { title: "WebhookEndpointDeleted" })
