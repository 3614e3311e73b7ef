/** Counts what happens in this process's conversations, with nothing of their content. */
import { Context } from "effect"
import { Histogram } from "#core/Histogram.ts"
import { type LatencyStage, latencyStages } from "#core/conversation/ConversationEntry.ts"

const latencyBounds = [0.05, 0.1, 0.15, 0.2, 0.26, 0.32, 0.4, 0.5, 0.6, 0.75, 0.9, 1.2, 1.7, 2.5, 4, 8]

export class ConversationMetrics {
  live = 0
  /** Turns of callees. */
  turns = 0
  optOuts = 0
  callbacks = 0
  /** Nodes of which nothing was extracted. */
  extractionsFailed = 0
  /** What models have written that was not for the callee; see `Withheld`. */
  withheldCalls = 0
  withheldTokens = 0
  /** Entries waiting to be written. */
  entriesWaiting = 0
  /** By stage, and then by the provider of the service. There are as many providers as services are installed. */
  readonly latencySeconds: ReadonlyMap<LatencyStage, Map<string, Histogram>> = new Map(latencyStages.map((stage) => [stage, new Map()]))

  waited(stage: LatencyStage, provider: string, seconds: number): void {
    const providers = this.latencySeconds.get(stage)
    const histogram = providers?.get(provider) ?? new Histogram(latencyBounds)
    providers?.set(provider, histogram)
    histogram.observe(seconds)
  }
}

/** The numbers of this process. */
export const CurrentConversationMetrics = Context.Reference<ConversationMetrics>("runtime/metrics/CurrentConversationMetrics", {
  defaultValue: () => new ConversationMetrics()
})
