/** Deliveries of an agent's webhook nodes for a call. */
import Type, { type Static } from "typebox"
import { webhookMethods } from "#core/agent/WebhookNode.ts"
import { type NodeWebhook, type NodeWebhookId, nodeWebhookStates } from "#core/webhook/NodeWebhook.ts"
import { instant, instantOf, nullable, orNull } from "#gateway/request/Field.ts"
import { RunPath } from "./Run.ts"

export const NodeWebhookPath = Type.Object({ ...RunPath.properties, delivery_id: Type.Unsafe<NodeWebhookId>(Type.String()) })

const NodeWebhookWire = Type.Object(
  {
    id: Type.String({ format: "uuid", description: "Sent with every try as the header `X-Dograh-Delivery-Id`." }),
    node_id: Type.String(),
    name: Type.String({ description: "The node's name." }),
    method: nullable(Type.Enum([...webhookMethods])),
    url: Type.String(),
    state: Type.Enum([...nodeWebhookStates]),
    attempts: Type.Integer(),
    next_attempt_at: nullable(instant()),
    last_attempt_at: nullable(instant()),
    last_status: nullable(Type.Integer({ description: "The HTTP status of the last answer; null when there was none." })),
    last_error: nullable(Type.String({ description: "A short code, such as `status_500`, `timeout` or `credential_not_found`." })),
    created_at: instant()
  },
  { title: "RunWebhook" }
)
export const NodeWebhookList = Type.Object({ deliveries: Type.Array(NodeWebhookWire) }, { title: "RunWebhookList" })

export const nodeWebhookWire = (delivery: NodeWebhook): Static<typeof NodeWebhookWire> => ({
  id: delivery.id,
  node_id: delivery.nodeId,
  name: delivery.name,
  method: orNull(delivery.method),
  url: delivery.url,
  state: delivery.state,
  attempts: delivery.attempts,
  next_attempt_at: delivery.state === "pending" ? delivery.dueAt.toISOString() : null,
  last_attempt_at: instantOf(delivery.lastAttemptAt),
  last_status: orNull(delivery.lastStatus),
  last_error: orNull(delivery.lastError),
  created_at: delivery.createdAt.toISOString()
})
