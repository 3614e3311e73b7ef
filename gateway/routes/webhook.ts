/** /api/v1/organizations/webhook-endpoints: where an organization's events are sent. */
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
    summary: "Have events sent to an address",
    description:
      "Each event is posted at least once, as a CloudEvent in JSON, signed as Standard Webhooks asks for. Answer 2xx to take it; anything else, a redirect included, is tried again for three days. Answer 410 to hear no more. The secret is shown here, and never again.",
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
    success: WebhookEndpointList,
    handle: ({ caller }) =>
      WebhookEndpoints.use((_) => _.list(caller.organizationId)).pipe(Effect.map((found) => ({ endpoints: found.map(endpointWire) })))
  }),
  route({
    method: "get",
    path: one,
    name: "getWebhookEndpoint",
    summary: "Read a webhook endpoint",
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
    description: "One that is enabled again is sent what has waited for it.",
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
    summary: "Make a new secret",
    description: "Shown here, and never again. For 24 hours everything is signed with the one before too.",
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
    summary: "List what became of an endpoint's events, newest first",
    description: "Deliveries are kept as long as their events: for seven days.",
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
    summary: "Send a dead delivery anew",
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
    summary: "Send all dead deliveries anew",
    description: "Ten thousand at once, oldest first.",
    needs: "admin",
    params: WebhookEndpointPath,
    success: Queued,
    errors: ["WebhookEndpointNotFound"],
    handle: ({ caller, params }) =>
      WebhookEndpoints.use((_) => _.replayAll(caller.organizationId, params.endpoint_id)).pipe(Effect.map((queued) => ({ queued })))
  })
])
