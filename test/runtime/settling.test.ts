/** What becomes of an attempt that an earlier process left behind: it is given back only if its request certainly never left. */
import { Effect } from "effect"
import t from "tap"
import { AgentDefinitionId, CallId, RunId } from "#core/Id.ts"
import type { LeftAttempt } from "#core/call/Attempt.ts"
import { defaultRetryConfig } from "#core/campaign/RetryPolicy.ts"
import { settler } from "#runtime/campaign/settling.ts"
import type { KnownCall } from "#runtime/journal/FormerJournals.ts"
import { wait } from "#test/support/campaignScene.ts"
import { campaignId, configurationId, layerOf, organizationId, World } from "#test/support/fakes.ts"
import { refTo } from "#test/support/refTo.ts"
import { run } from "#test/support/run.ts"

const callId = CallId.make("01890000-0000-7000-8000-000000000001")
const attempt: LeftAttempt = {
  agentDefinitionId: AgentDefinitionId.make(1),
  answeredAt: undefined,
  call: refTo(callId, { to: "+15551" }),
  callId,
  campaign: {
    breakerEnabled: false,
    breakerEpoch: 1,
    campaignId,
    retriesUsed: 0,
    retry: defaultRetryConfig,
    rowNo: 1,
    settingsVersion: 1
  },
  initialContext: {},
  journal: "00000000-0000-4000-8000-000000000009",
  node: "node1",
  organizationId,
  runId: RunId.make(1),
  state: "sent",
  telephonyConfigurationId: configurationId
}

/** The contact, and what was asked and recorded, once the provider has said for three minutes that it has no such call. */
const settled = (left: KnownCall["left"]) =>
  run(function* () {
    const world = new World()
    world.contacts = [{ dueAt: 0, retriesUsed: 0, rowNo: 1, state: "dialing" }]
    world.attempts.set(callId, { contact: world.contacts[0], dialEpoch: 1, state: "sent" })
    world.left = left
    yield* Effect.gen(function* () {
      const settle = yield* settler
      yield* settle(attempt)
      yield* wait("3 minutes")
    }).pipe(Effect.provide(layerOf(world, { DRAIN: "0" })))
    return { contact: world.contacts[0]?.state, dials: world.dials, log: [...new Set(world.log)] }
  })

t.test("given an attempt that was marked as sent by a process that is gone", async (t) => {
  const check = async (left: KnownCall["left"], expected: unknown) => t.strictSame(await settled(left), expected, left)
  t.test("when the journal proves that its request never left, then its contact is as before", async () => {
    await check("never_left", { contact: "pending", dials: [], log: ["void"] })
  })
  t.test("when its request may have left, then the provider is asked, and without an answer it is not dialed again", async () => {
    for (const left of ["left", "unsure"] as const) await check(left, { contact: "failed", dials: [], log: ["look", "ended unknown"] })
  })
})
