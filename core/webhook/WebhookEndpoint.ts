/** A webhook endpoint: a URL to which an organization has its events sent. Each event for it is one delivery. */
import { Schema } from "effect"
import { type Egress, refusesUrl } from "#core/egress/Egress.ts"
import type { OrganizationId } from "#core/Id.ts"
import type { EventId, EventType } from "#core/event/Event.ts"

export const WebhookEndpointId = Schema.Int.pipe(Schema.brand("WebhookEndpointId"))
export type WebhookEndpointId = typeof WebhookEndpointId.Type
export const WebhookDeliveryId = Schema.Int.pipe(Schema.brand("WebhookDeliveryId"))
export type WebhookDeliveryId = typeof WebhookDeliveryId.Type

export interface WebhookEndpoint {
  readonly id: WebhookEndpointId
  readonly organizationId: OrganizationId
  readonly url: string
  readonly description: string
  /** The types that it receives. Empty means every type. */
  readonly eventTypes: ReadonlyArray<EventType>
  readonly enabled: boolean
  /** `gone`: the endpoint answered 410. Undefined unless the engine itself disabled the endpoint. */
  readonly disabledReason: "gone" | undefined
  readonly createdAt: Date
  readonly updatedAt: Date
}

/** An endpoint with its secret, which is shown once, when it is created or rotated. */
export interface WebhookEndpointWithSecret extends WebhookEndpoint {
  /** `whsec_` followed by base64, as https://www.standardwebhooks.com requires. */
  readonly secret: string
}

export const deliveryStates = ["pending", "delivered", "dead"] as const
export type DeliveryState = (typeof deliveryStates)[number]

export interface WebhookDelivery {
  readonly id: WebhookDeliveryId
  readonly endpointId: WebhookEndpointId
  readonly eventId: EventId
  readonly eventType: EventType
  readonly subject: string
  readonly state: DeliveryState
  readonly attempts: number
  /** When the next try is due. */
  readonly dueAt: Date
  readonly lastAttemptAt: Date | undefined
  /** The HTTP status of the last try's response; undefined if there was none. */
  readonly lastStatus: number | undefined
  readonly lastError: string | undefined
  readonly createdAt: Date
}

export class WebhookEndpointNotFound extends Schema.TaggedError<WebhookEndpointNotFound>()("WebhookEndpointNotFound", { id: Schema.Int }) {}
export class WebhookDeliveryNotFound extends Schema.TaggedError<WebhookDeliveryNotFound>()("WebhookDeliveryNotFound", { id: Schema.Int }) {}
/** Only dead deliveries can be replayed. */
export class WebhookDeliveryNotDead extends Schema.TaggedError<WebhookDeliveryNotDead>()("WebhookDeliveryNotDead", {
  state: Schema.Literals(deliveryStates)
}) {}
export class WebhookEndpointDisabled extends Schema.TaggedError<WebhookEndpointDisabled>()("WebhookEndpointDisabled", {}) {}
export class TooManyWebhookEndpoints extends Schema.TaggedError<TooManyWebhookEndpoints>()("TooManyWebhookEndpoints", {
  limit: Schema.Int
}) {}
/** Webhooks must not be sent to this URL. */
export class WebhookUrlRefused extends Schema.TaggedError<WebhookUrlRefused>()("WebhookUrlRefused", { reason: Schema.String }) {}

/**
 * Why webhooks must not be sent to this URL. Undefined if they may be, as far as can be told without resolving the host name. Without a
 * policy, only the form of the URL is checked.
 */
export const whyRefused = (text: string, egress?: Egress): string | undefined => {
  const url = URL.parse(text)
  if (url === null || !["http:", "https:"].includes(url.protocol)) return "url must be an http:// or https:// address"
  if (url.username !== "" || url.password !== "") return "url must not contain a user name or password"
  if (url.hash !== "") return "url must not contain a fragment"
  return egress !== undefined && refusesUrl(egress, url) ? "url must lead to a public address" : undefined
}
