/** The request that a webhook node of an agent makes once a call is over, and what became of it. */
import { Schema } from "effect"
import type { WebhookMethod } from "#core/agent/WebhookNode.ts"

/** A UUID: the receiver knows a repeated delivery by it. */
export const NodeWebhookId = Schema.String.pipe(Schema.brand("NodeWebhookId"))
export type NodeWebhookId = typeof NodeWebhookId.Type

export const nodeWebhookStates = ["pending", "succeeded", "dead_letter"] as const
export type NodeWebhookState = (typeof nodeWebhookStates)[number]

/** One delivery, for one run and one node of the version that was on the call. */
export interface NodeWebhook {
  readonly id: NodeWebhookId
  readonly nodeId: string
  /** The node's; empty when it has none. */
  readonly name: string
  readonly method: WebhookMethod | undefined
  readonly url: string
  readonly state: NodeWebhookState
  readonly attempts: number
  /** Of the next try. */
  readonly dueAt: Date
  readonly lastAttemptAt: Date | undefined
  /** Undefined when the receiver has not answered. */
  readonly lastStatus: number | undefined
  readonly lastError: string | undefined
  readonly createdAt: Date
}

export class NodeWebhookNotFound extends Schema.TaggedError<NodeWebhookNotFound>()("NodeWebhookNotFound", { id: Schema.String }) {}
/** Only what is dead can be sent anew. */
export class NodeWebhookNotDead extends Schema.TaggedError<NodeWebhookNotDead>()("NodeWebhookNotDead", {
  state: Schema.Literals(nodeWebhookStates)
}) {}
