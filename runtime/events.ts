/** Delivers events from the outbox to followers and to webhooks, and sends the requests of agents' webhook nodes. */
import { Layer } from "effect"
import { Events } from "#core/event/Events.ts"
import { NodeWebhookQueue } from "#core/webhook/NodeWebhookQueue.ts"
import { NodeWebhooks } from "#core/webhook/NodeWebhooks.ts"
import { WebhookEndpoints } from "#core/webhook/WebhookEndpoints.ts"
import { WebhookQueue } from "#core/webhook/WebhookQueue.ts"
import { CredentialSecrets } from "#core/credential/CredentialSecrets.ts"
import * as EventFeed from "./event/EventFeed.ts"
import * as EventSequencer from "./event/EventSequencer.ts"
import { EventWakes } from "./event/EventWakes.ts"
import * as NodeWebhookDelivery from "./webhook/NodeWebhookDelivery.ts"
import * as WebhookDelivery from "./webhook/WebhookDelivery.ts"
import { WebhookSender } from "./webhook/WebhookSender.ts"

const delivery = WebhookDelivery.layer.pipe(Layer.provide([WebhookQueue.layer, WebhookSender.layer]))

/** The services through which the API sees events. */
export const seen = Layer.mergeAll(EventFeed.layer, Events.layer, NodeWebhooks.layer, WebhookEndpoints.layer).pipe(
  Layer.provide(EventWakes.layer)
)

/** Includes those, and what puts events in order and delivers them. */
export const followed = Layer.merge(seen, Layer.merge(EventSequencer.layer, delivery).pipe(Layer.provide(EventWakes.layer)))

/** Sends the requests of webhook nodes. */
export const nodeWebhooksOf = (sender: Layer.Layer<WebhookSender> = WebhookSender.layer) =>
  NodeWebhookDelivery.layer.pipe(Layer.provide([CredentialSecrets.layer, NodeWebhookQueue.layer, sender]), Layer.provide(EventWakes.layer))

/** All of the above. */
export const layer = Layer.mergeAll(followed, nodeWebhooksOf())
