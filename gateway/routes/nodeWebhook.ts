/** /api/v1/workflow/{workflow_id}/runs/{run_id}/webhooks: deliveries of an agent's webhook nodes for a call. */
import { Effect } from "effect"
import { NodeWebhooks } from "#core/webhook/NodeWebhooks.ts"
import { route, tagged } from "#gateway/request/Route.ts"
import { NodeWebhookList, NodeWebhookPath, nodeWebhookWire } from "#gateway/wire/NodeWebhook.ts"
import { RunPath } from "#gateway/wire/Run.ts"
import { Queued } from "#gateway/wire/Webhook.ts"
import { runsTag } from "./run.ts"

const all = "/api/v1/workflow/:workflow_id/runs/:run_id/webhooks"

export const nodeWebhookRoutes = tagged(runsTag, [
  route({
    method: "get",
    path: all,
    name: "listRunWebhooks",
    summary: "List the webhook-node deliveries of a call",
    description:
      "One delivery for each enabled webhook node of the agent version that handled the call, in the order of the nodes; none before the call is over. Connection errors and the statuses 408, 425, 429, 500, 502, 503 and 504 are retried, five attempts in all; any other status but 2xx is final.",
    params: RunPath,
    success: NodeWebhookList,
    errors: ["RunNotFound"],
    handle: ({ caller, params }) =>
      NodeWebhooks.use((_) => _.list(caller.organizationId, params.workflow_id, params.run_id)).pipe(
        Effect.map((found) => ({ deliveries: found.map(nodeWebhookWire) }))
      )
  }),
  route({
    method: "post",
    path: `${all}/:delivery_id/replay`,
    name: "replayRunWebhook",
    summary: "Replay a dead-lettered delivery of a call",
    description: "Sends the same bytes; after seven days, the current content of the call's record.",
    params: NodeWebhookPath,
    success: Queued,
    errors: ["RunNotFound", "NodeWebhookNotFound", "NodeWebhookNotDead"],
    handle: ({ caller, params }) =>
      NodeWebhooks.use((_) => _.replay(caller.organizationId, params.workflow_id, params.run_id, params.delivery_id)).pipe(
        Effect.as({ queued: 1 })
      )
  })
])
