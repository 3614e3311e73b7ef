/** Where an organization wants its events sent, and what became of each. */
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
  /** Empty: every type. */
  readonly eventTypes: ReadonlyArray<EventType>
  readonly enabled: boolean
  /** `gone`: it has answered 410. Undefined unless the engine itself has disabled it. */
  readonly disabledReason: "gone" | undefined
  readonly createdAt: Date
  readonly updatedAt: Date
}

/** With the secret, which is shown when it is made and never again. */
export interface WebhookEndpointWithSecret extends WebhookEndpoint {
  /** `whsec_` and base64, as https://www.standardwebhooks.com asks for. */
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
  /** Of the next try. */
  readonly dueAt: Date
  readonly lastAttemptAt: Date | undefined
  /** Undefined when the endpoint has not answered. */
  readonly lastStatus: number | undefined
  readonly lastError: string | undefined
  readonly createdAt: Date
}

export class WebhookEndpointNotFound extends Schema.TaggedError<WebhookEndpointNotFound>()("WebhookEndpointNotFound", { id: Schema.Int }) {}
export class WebhookDeliveryNotFound extends Schema.TaggedError<WebhookDeliveryNotFound>()("WebhookDeliveryNotFound", { id: Schema.Int }) {}
/** Only what is dead can be sent anew. */
export class WebhookDeliveryNotDead extends Schema.TaggedError<WebhookDeliveryNotDead>()("WebhookDeliveryNotDead", {
  state: Schema.Literals(deliveryStates)
}) {}
export class WebhookEndpointDisabled extends Schema.TaggedError<WebhookEndpointDisabled>()("WebhookEndpointDisabled", {}) {}
export class TooManyWebhookEndpoints extends Schema.TaggedError<TooManyWebhookEndpoints>()("TooManyWebhookEndpoints", {
  limit: Schema.Int
}) {}
/** The address is none that webhooks may be sent to. */
export class WebhookUrlRefused extends Schema.TaggedError<WebhookUrlRefused>()("WebhookUrlRefused", { reason: Schema.String }) {}

/**
 * Why webhooks cannot be sent there; undefined: they can, as far as can be said without asking for the name's address. Without a policy only
 * the form of the URL is looked at.
 */
export const whyRefused = (text: string, egress?: Egress): string | undefined => {
  const url = URL.parse(text)
  if (url === null || !["http:", "https:"].includes(url.protocol)) return "url must be an http:// or https:// address"
  if (url.username !== "" || url.password !== "") return "url must not contain a user name or password"
  if (url.hash !== "") return "url must not contain a fragment"
  return egress !== undefined && refusesUrl(egress, url) ? "url must lead to a public address" : undefined
}
