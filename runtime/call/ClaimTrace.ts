/** A campaign's claim of contacts: a trace of its own, linked to by the traces of its calls. */
import type { CampaignId } from "#core/Id.ts"
import type { Traces } from "#runtime/trace/Traces.ts"
import type { TraceSpan } from "#runtime/trace/TraceSpan.ts"

export class ClaimTrace {
  readonly begunAt: bigint
  /** Undefined if the claim is not exported; its calls may be. */
  readonly span: TraceSpan | undefined
  private readonly traces: Traces

  constructor(traces: Traces) {
    this.traces = traces
    this.begunAt = traces.now()
    this.span = traces.root({ name: "campaign.claim", startTime: this.begunAt })
  }

  ended(campaignId: CampaignId, wanted: number, claimed: number): void {
    if (this.span === undefined) return
    this.span.tell({ "trunkline.campaign_id": campaignId, "trunkline.contacts_wanted": wanted, "trunkline.contacts_claimed": claimed })
    this.traces.end(this.span)
  }
}
