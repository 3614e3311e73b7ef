/** How the tries of this process to deliver webhooks ended, as plain numbers. */
import { Context } from "effect"
import type { TriedNodeWebhook } from "#core/webhook/NodeWebhookQueue.ts"
import type { Tried } from "#core/webhook/WebhookQueue.ts"

class Tries {
  readonly byResult = new Map<string, number>()

  /** A delivery that is `pending` after its try has failed, and is tried again later. */
  count(state: Tried["state"] | TriedNodeWebhook["state"]): void {
    const result = state === "pending" ? "failed" : state
    this.byResult.set(result, (this.byResult.get(result) ?? 0) + 1)
  }
}

export class WebhookMetrics {
  /** Events to webhook endpoints. */
  readonly endpoints = new Tries()
  /** Requests of webhook nodes. */
  readonly nodes = new Tries()
}

/** The numbers of this process. */
export const CurrentWebhookMetrics = Context.Reference<WebhookMetrics>("runtime/metrics/CurrentWebhookMetrics", {
  defaultValue: () => new WebhookMetrics()
})
