/** Answered calls that the provider's side handles first: the agent speaks once they are handed over, and not before. */
import t from "tap"
import type { TrunkEvent } from "#core/provider/TrunkEvent.ts"
import { answered, hungUp, play, steps, wait } from "#test/support/callScene.ts"

const elsewhere: TrunkEvent = { _tag: "Answered", isElsewhere: true }
const found: TrunkEvent = { _tag: "VariablesSet", values: { AMDSTATUS: "HUMAN" } }

const check = async (name: string, act: Parameters<typeof play>[1], expected: object) => {
  const { missed, world } = await play(
    (scene) => {
      scene.firstAudioAfter = 100
    },
    (scene) => steps(scene.says({ _tag: "Rang" }), wait("1 second"), act(scene), wait("10 seconds"))
  )
  const [end] = world.ends
  t.match({ missed: missed.length, outcome: end?.outcome, cause: end?.cause, gathered: end?.record.gatheredContext }, expected, name)
}

t.test("given a call that is answered, and handed over later than audio may take", async () => {
  await check(
    "then its greeting is not missed, and the run has what was found",
    ({ says }) =>
      steps(says(elsewhere), wait("40 seconds"), says(found), says(answered), wait("5 seconds"), says(hungUp("normal_clearing"))),
    { missed: 0, outcome: "answered", gathered: { AMDSTATUS: "HUMAN" } }
  )
  await check(
    "nor when its first report is repeated late",
    ({ says }) =>
      steps(says(elsewhere), wait("5 seconds"), says(answered), says(elsewhere), wait("5 seconds"), says(hungUp("normal_clearing"))),
    { missed: 0, outcome: "answered" }
  )
})

t.test("given a call that is never handed over", async () => {
  await check(
    "then nothing is missed, and it was answered",
    ({ says }) => steps(says(elsewhere), wait("9 seconds"), says(hungUp("normal_clearing"))),
    { missed: 0, outcome: "answered" }
  )
  await check(
    "or it was a machine",
    ({ says }) => steps(says(elsewhere), wait("3 seconds"), says({ _tag: "HungUp", cause: "machine_detected" })),
    {
      missed: 0,
      outcome: "voicemail"
    }
  )
})
