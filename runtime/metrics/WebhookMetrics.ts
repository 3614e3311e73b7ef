/** The results of this process's attempts to deliver webhooks, as plain numbers. */
import { Context } from "effect"
import type { TriedNodeWebhook } from "#core/webhook/NodeWebhookQueue.ts"
import type { Tried } from "#core/webhook/WebhookQueue.ts"

class Tries {
  readonly byResult = new Map<string, number>()

  /** A delivery that is `pending` after an attempt has failed, and is retried later. */
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
