/** However a carrier's callbacks are repeated, reordered and delayed within the holding times, a call ends as it does in order. */
import fc from "fast-check"
import t from "tap"
import { differenceOf, Draws, orderly, outcomeOf, play } from "#test/support/CallSchedule.ts"
import { stories } from "#test/support/carrierStories.ts"
import { forAllOf } from "#test/support/forAll.ts"

const SCHEDULES = 100_000
/** As many draws as almost any schedule needs. */
const DRAWS = 48
const SEED = 1

const ordered = stories.map(orderly)

t.test("given each story, when it is told in order, then the call ends as its callee did", async (t) => {
  const outcomes: Record<string, Set<string>> = {}
  stories.forEach(({ plot }, index) => {
    const played = ordered[index]
    const outcome = played === undefined ? "unplayed" : (outcomeOf(played) ?? "not over")
    outcomes[plot.name] = (outcomes[plot.name] ?? new Set()).add(outcome)
  })
  t.strictSame(Object.fromEntries(Object.entries(outcomes).map(([name, of]) => [name, [...of].join()])), {
    talks: "answered",
    "says a word": "answered",
    "answers at once": "answered",
    "talks for too long": "answered",
    "soon talks for too long": "answered",
    "answers late": "answered",
    "answers late and says a word": "answered",
    "is left by the agent": "answered",
    "is busy": "busy",
    "does not exist": "failed",
    "cannot be reached": "failed",
    "rejects the call": "failed",
    "rejects the call late": "failed",
    "does not answer": "no_answer",
    "rings until an operator cancels": "canceled",
    "is a person": "answered",
    "is a machine": "voicemail",
    "is a machine that hangs up": "voicemail"
  })
})

t.test(`given ${SCHEDULES} schedules of these stories, then each call ends as it does in order`, async () => {
  const story = fc.nat(stories.length - 1)
  const draws = fc.uint8Array({ maxLength: DRAWS, minLength: DRAWS })
  forAllOf({ numRuns: SCHEDULES, seed: SEED }, story, draws, (index, bytes) => {
    const [told, inOrder] = [stories[index], ordered[index]]
    if (told === undefined || inOrder === undefined) return
    const played = play(told, new Draws(bytes))
    const difference = differenceOf(told, played, inOrder)
    if (difference !== undefined) throw new Error([told.name, ...played.log, difference].join("\n"))
  })
})
