/** When a campaign's log names a stage that its callees wait for. */
import t from "tap"
import type { LatencyStage } from "#core/conversation/ConversationEntry.ts"
import { SlowStages } from "#core/conversation/SlowStages.ts"
import { CampaignId } from "#core/Id.ts"

const second = 1000
const minute = 60 * second
const ours = CampaignId.make(1)

/** A watch that is told of waits, given in milliseconds, a second apart from `from` on; returns what the log is to say. */
const watching = () => {
  const stages = new SlowStages()
  return (waits: ReadonlyArray<number>, from = 0, of: { campaign?: CampaignId; stage?: LatencyStage; model?: string } = {}) =>
    waits.flatMap((millis, place) => {
      const { campaign = ours, model = "m", stage = "first_token" } = of
      return stages.waited(campaign, { _tag: "Waited", stage, millis, at: from + place * second, processor: "acme", model }) ?? []
    })
}

t.test("given a service that is slow at once, then it is named at the third slow wait, with how often and how long", async (t) => {
  const wait = watching()
  t.strictSame(wait([400, 1500, 2400]), [])
  t.strictSame(wait([1234.5]), [
    {
      stage: "first_token",
      provider: "acme",
      model: "m",
      slow: 3,
      of: 4,
      slow_from_seconds: 1,
      p50_seconds: 1.23,
      p95_seconds: 2.4,
      worst_seconds: 2.4
    }
  ])
})

t.test("given a service that was named, then it is named again after five minutes at the earliest, with all waits since", async (t) => {
  const wait = watching()
  t.equal(wait([2000, 2000, 2000]).length, 1)
  t.strictSame(
    wait(
      Array.from({ length: 297 }, () => 3000),
      3 * second
    ),
    []
  )
  t.match(wait([4000], 5 * minute + 3 * second), [{ slow: 298, of: 298, worst_seconds: 4 }])
})

t.test("given a service that is seldom slow, then it is not named", async (t) => {
  const wait = watching()
  const oneInTen = Array.from({ length: 200 }, (_, place) => (place % 10 === 0 ? 1500 : 300))
  t.strictSame(wait(oneInTen), [])
})

t.test("given waits that are as long as they may be, then none is slow", async (t) => {
  const limits = { recognition: 800, end_of_turn: 2000, first_token: 1000, synthesis: 700, first_audio: 1500 } as const
  for (const [stage, limit] of Object.entries(limits)) {
    // Cast: the key of an object that lists the stages.
    const of = { stage: stage as LatencyStage }
    t.strictSame(watching()([limit, limit, limit], 0, of), [], stage)
    t.equal(watching()([limit + 1, limit + 1, limit + 1], 0, of).length, 1, stage)
  }
})

t.test("given slow waits of different campaigns, stages and services, then each is judged for itself", async (t) => {
  const wait = watching()
  t.strictSame([wait([2000, 2000]), wait([2000], 0, { campaign: CampaignId.make(2) }), wait([2000], 0, { model: "n" })].flat(), [])
  t.strictSame(wait([2000], 0, { stage: "synthesis" }), [])
  t.match(wait([2000]), [{ slow: 3, of: 3 }])
})

t.test("given a service that becomes slow after hours, then what was before does not hide it", async (t) => {
  const wait = watching()
  const good = Array.from({ length: 290 }, () => 300)
  for (let round = 0; round < 20; round++) t.strictSame(wait(good, round * 5 * minute), [])
  t.match(wait([2000, 2000, 2000, 2000], 100 * minute), [{ slow: 3 }])
})

t.test("given more services than are watched, then the memory stays bounded, and the newest count", async (t) => {
  const wait = watching()
  for (let model = 0; model < 5000; model++) wait([2000, 2000], 0, { model: String(model) })
  t.strictSame(wait([2000], 0, { model: "0" }), [], "forgotten")
  t.match(wait([2000], 0, { model: "4999" }), [{ slow: 3 }])
})
