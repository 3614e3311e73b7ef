/** The request that an agent's webhook node sends once a call is over, and the state of its delivery. */
import { Schema } from "effect"
import type { WebhookMethod } from "#core/agent/WebhookNode.ts"

/** A UUID, by which the receiver recognizes a repeated delivery. */
export const NodeWebhookId = Schema.String.pipe(Schema.brand("NodeWebhookId"))
export type NodeWebhookId = typeof NodeWebhookId.Type

export const nodeWebhookStates = ["pending", "succeeded", "dead_letter"] as const
export type NodeWebhookState = (typeof nodeWebhookStates)[number]

/** One delivery, for one run and one webhook node of the agent version that was on the call. */
export interface NodeWebhook {
  readonly id: NodeWebhookId
  readonly nodeId: string
  /** The node's name; empty if it has none. */
  readonly name: string
  readonly method: WebhookMethod | undefined
  readonly url: string
  readonly state: NodeWebhookState
  readonly attempts: number
  /** When the next try is due. */
  readonly dueAt: Date
  readonly lastAttemptAt: Date | undefined
  /** The HTTP status of the last try's response; undefined if there was none. */
  readonly lastStatus: number | undefined
  readonly lastError: string | undefined
  readonly createdAt: Date
}

export class NodeWebhookNotFound extends Schema.TaggedError<NodeWebhookNotFound>()("NodeWebhookNotFound", { id: Schema.String }) {}
/** Only dead-lettered deliveries can be replayed. */
export class NodeWebhookNotDead extends Schema.TaggedError<NodeWebhookNotDead>()("NodeWebhookNotDead", {
  state: Schema.Literals(nodeWebhookStates)
}) {}
