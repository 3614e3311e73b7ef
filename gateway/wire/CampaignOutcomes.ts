/** `/campaign/{campaign_id}/outcomes`: calls by outcome, and retries, over time. */
import Type, { type Static } from "typebox"
import { bucketSizes, type CampaignOutcomes } from "#core/campaign/CampaignOutcomes.ts"
import type { Outcome } from "#core/outcome/Outcome.ts"
import { instant, optional } from "#gateway/request/Field.ts"

const Bucket = Type.Enum([...bucketSizes])

export const CampaignOutcomesQuery = Type.Object({
  bucket: optional(
    Type.Enum([...bucketSizes], { description: "If left out, the smallest for which the buckets reach back to the campaign's start." })
  )
})

const count = Type.Integer({ minimum: 0 })
const OutcomeCounts = Type.Object(
  {
    ...{ answered: count, voicemail: count, busy: count, no_answer: count },
    ...{ canceled: count, failed: count, error: count, unknown: count }
  } satisfies Record<Outcome, typeof count>,
  { title: "OutcomeCounts", description: "How many calls had each outcome." }
)

export const CampaignOutcomesWire = Type.Object(
  {
    bucket: Bucket,
    since: instant("Calls that ended before this are not counted."),
    calls: Type.Array(Type.Object({ at: instant("Where the bucket begins."), outcomes: OutcomeCounts }, { title: "CallsOverTime" }), {
      description: "The earliest bucket first."
    }),
    retries: Type.Object(
      {
        due: Type.Integer({ description: "Retries that are due by the end of the current bucket." }),
        ahead: Type.Array(Type.Object({ at: instant("Where the bucket begins."), retries: Type.Integer() }, { title: "RetriesAhead" }), {
          description: "Later ones, the earliest bucket first."
        }),
        later: Type.Integer({ description: "Retries that fall due after the last of the buckets ahead." })
      },
      { title: "RetriesOverTime" }
    )
  },
  { title: "CampaignOutcomes" }
)

const iso = (at: number) => new Date(at).toISOString()

export const campaignOutcomesWire = (found: CampaignOutcomes): Static<typeof CampaignOutcomesWire> => ({
  bucket: found.size,
  since: iso(found.since),
  calls: found.calls.map(({ at, counts }) => ({
    at: iso(at),
    outcomes: {
      ...{ answered: 0, voicemail: 0, busy: 0, no_answer: 0, canceled: 0, failed: 0, error: 0, unknown: 0 },
      ...counts
    }
  })),
  retries: {
    due: found.retries.due,
    ahead: found.retries.ahead.map(({ at, retries }) => ({ at: iso(at), retries })),
    later: found.retries.later
  }
})
