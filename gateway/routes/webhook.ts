/** /api/v1/organizations/webhook-endpoints: URLs that receive an organization's events. */
import { Effect } from "effect"
import { WebhookEndpoints } from "#core/webhook/WebhookEndpoints.ts"
import { route, tagged } from "#gateway/request/Route.ts"
import {
  changesOf,
  CreateWebhookEndpoint,
  Deleted,
  deliveryQueryOf,
  deliveryWire,
  endpointSecretWire,
  endpointWire,
  Queued,
  settingsOf,
  UpdateWebhookEndpoint,
  WebhookDeliveryList,
  WebhookDeliveryPath,
  WebhookDeliveryQuery,
  WebhookEndpointList,
  WebhookEndpointPath,
  WebhookEndpointSecretWire,
  WebhookEndpointWire
} from "#gateway/wire/Webhook.ts"

const all = "/api/v1/organizations/webhook-endpoints"
const one = `${all}/:endpoint_id`

export const webhookRoutes = tagged({ name: "Webhooks", about: "URLs that events are sent to." }, [
  route({
    method: "post",
    path: all,
    name: "createWebhookEndpoint",
    summary: "Create a webhook endpoint",
    description:
      "Each event is posted at least once, as a CloudEvent in JSON, signed according to Standard Webhooks. Answer 2xx to accept it; after any other answer, including a redirect, it is retried for three days. Answer 410 to receive no more events. The secret is shown only here.",
    needs: "admin",
    body: CreateWebhookEndpoint,
    success: WebhookEndpointSecretWire,
    errors: ["TooManyWebhookEndpoints", "WebhookUrlRefused"],
    handle: ({ body, caller }) =>
      WebhookEndpoints.use((_) => _.create(caller.organizationId, settingsOf(body))).pipe(Effect.map(endpointSecretWire))
  }),
  route({
    method: "get",
    path: all,
    name: "listWebhookEndpoints",
    summary: "List webhook endpoints, oldest first",
    description: "Where events are sent to, and which kinds of events. Signing secrets are not shown.",
    success: WebhookEndpointList,
    handle: ({ caller }) =>
      WebhookEndpoints.use((_) => _.list(caller.organizationId)).pipe(Effect.map((found) => ({ endpoints: found.map(endpointWire) })))
  }),
  route({
    method: "get",
    path: one,
    name: "getWebhookEndpoint",
    summary: "Read a webhook endpoint",
    description:
      "Its URL, events and state; the signing secret is shown only when it is created. 404 if the organization has no such endpoint.",
    params: WebhookEndpointPath,
    success: WebhookEndpointWire,
    errors: ["WebhookEndpointNotFound"],
    handle: ({ caller, params }) =>
      WebhookEndpoints.use((_) => _.get(caller.organizationId, params.endpoint_id)).pipe(Effect.map(endpointWire))
  }),
  route({
    method: "patch",
    path: one,
    name: "updateWebhookEndpoint",
    summary: "Change a webhook endpoint",
    description: "An endpoint that is enabled again receives the events that have waited for it.",
    needs: "admin",
    params: WebhookEndpointPath,
    body: UpdateWebhookEndpoint,
    success: WebhookEndpointWire,
    errors: ["WebhookEndpointNotFound", "WebhookUrlRefused"],
    handle: ({ body, caller, params }) =>
      WebhookEndpoints.use((_) => _.update(caller.organizationId, params.endpoint_id, changesOf(body))).pipe(Effect.map(endpointWire))
  }),
  route({
    method: "delete",
    path: one,
    name: "deleteWebhookEndpoint",
    summary: "Delete a webhook endpoint with its deliveries",
    description: "What has not been delivered yet is dropped. 404 if the organization has no such endpoint.",
    needs: "admin",
    params: WebhookEndpointPath,
    success: Deleted,
    errors: ["WebhookEndpointNotFound"],
    handle: ({ caller, params }) =>
      WebhookEndpoints.use((_) => _.remove(caller.organizationId, params.endpoint_id)).pipe(
        Effect.as({ message: "Webhook endpoint deleted" })
      )
  }),
  route({
    method: "post",
    path: `${one}/rotate-secret`,
    name: "rotateWebhookSecret",
    summary: "Create a new secret",
    description: "It is shown only here. For 24 hours, everything is also signed with the previous secret.",
    needs: "admin",
    params: WebhookEndpointPath,
    success: WebhookEndpointSecretWire,
    errors: ["WebhookEndpointNotFound"],
    handle: ({ caller, params }) =>
      WebhookEndpoints.use((_) => _.rotate(caller.organizationId, params.endpoint_id)).pipe(Effect.map(endpointSecretWire))
  }),
  route({
    method: "post",
    path: `${one}/test`,
    name: "testWebhookEndpoint",
    summary: "Send a `webhook.test` event to an endpoint",
    description:
      "It is delivered as every event is, signed and retried: its fate is in the list of deliveries. 409 for an endpoint that is disabled, 404 if the organization has none such.",
    needs: "admin",
    params: WebhookEndpointPath,
    success: Queued,
    errors: ["WebhookEndpointNotFound", "WebhookEndpointDisabled"],
    handle: ({ caller, params }) =>
      WebhookEndpoints.use((_) => _.test(caller.organizationId, params.endpoint_id)).pipe(Effect.as({ queued: 1 }))
  }),
  route({
    method: "get",
    path: `${one}/deliveries`,
    name: "listWebhookDeliveries",
    summary: "List the deliveries of an endpoint, newest first",
    description: "Deliveries are kept as long as their events: seven days.",
    params: WebhookEndpointPath,
    query: WebhookDeliveryQuery,
    success: WebhookDeliveryList,
    errors: ["WebhookEndpointNotFound"],
    handle: ({ caller, params, query }) =>
      WebhookEndpoints.use((_) => _.deliveries(caller.organizationId, params.endpoint_id, deliveryQueryOf(query))).pipe(
        Effect.map((found) => ({ deliveries: found.map(deliveryWire) }))
      )
  }),
  route({
    method: "post",
    path: `${one}/deliveries/:delivery_id/replay`,
    name: "replayWebhookDelivery",
    summary: "Replay a dead-lettered delivery",
    description:
      "It is tried again as if it were new, with the same event id. 409 unless its tries are used up, 404 if there is no such endpoint or delivery.",
    needs: "admin",
    params: WebhookDeliveryPath,
    success: Queued,
    errors: ["WebhookEndpointNotFound", "WebhookDeliveryNotFound", "WebhookDeliveryNotDead"],
    handle: ({ caller, params }) =>
      WebhookEndpoints.use((_) => _.replay(caller.organizationId, params.endpoint_id, params.delivery_id)).pipe(Effect.as({ queued: 1 }))
  }),
  route({
    method: "post",
    path: `${one}/replay`,
    name: "replayDeadWebhookDeliveries",
    summary: "Replay all dead-lettered deliveries",
    description: "At most ten thousand per request, oldest first.",
    needs: "admin",
    params: WebhookEndpointPath,
    success: Queued,
    errors: ["WebhookEndpointNotFound"],
    handle: ({ caller, params }) =>
      WebhookEndpoints.use((_) => _.replayAll(caller.organizationId, params.endpoint_id)).pipe(Effect.map((queued) => ({ queued })))
  })
])
