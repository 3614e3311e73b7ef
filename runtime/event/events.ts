/** Events from the outbox to those who follow them, and to webhooks. */
import { Effect, Layer } from "effect"
import { Events } from "#core/event/Events.ts"
import { PrivateTargets } from "#core/event/WebhookEndpoint.ts"
import { WebhookEndpoints } from "#core/event/WebhookEndpoints.ts"
import { WebhookQueue } from "#core/event/WebhookQueue.ts"
import { Config } from "../config.ts"
import * as EventFeed from "./EventFeed.ts"
import * as EventSequencer from "./EventSequencer.ts"
import { EventWakes } from "./EventWakes.ts"
import * as WebhookDelivery from "./WebhookDelivery.ts"
import { WebhookSender } from "./WebhookSender.ts"

const delivery = WebhookDelivery.layer.pipe(Layer.provide([WebhookQueue.layer, WebhookSender.layer]))

/** With the services through which the API sees events. */
export const layerOf = (privateTargets: boolean) =>
  Layer.mergeAll(EventFeed.layer, EventSequencer.layer, delivery, Events.layer, WebhookEndpoints.layer).pipe(
    Layer.provide([EventWakes.layer, Layer.succeed(PrivateTargets, privateTargets)])
  )

export const layer = Layer.unwrap(Effect.map(Config, ({ webhookPrivateTargets }) => layerOf(webhookPrivateTargets)))
