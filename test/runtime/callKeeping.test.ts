/** Whether the voice agent of a call records it and writes it down: the organization decides, and the operator may record nothing at all. */
import { Effect } from "effect"
import t from "tap"
import { answered, play, type Scene, steps, wait } from "#test/support/callScene.ts"
import { scriptedRecognizer } from "#test/support/scriptedRecognizer.ts"
import { definition } from "#test/support/talkScript.ts"

/** What an agent that talks is told about its call. */
const toldIn = async (arrange: (scene: Scene) => void) => {
  const { plan } = await play(
    (scene) => {
      const { world } = scene
      world.definition = definition()
      world.services = { ...world.services, model: Effect.die("no model"), hearing: scriptedRecognizer() }
      arrange(scene)
    },
    ({ says }) => steps(says(answered), wait(0))
  )
  return { records: plan?.record, keepsTranscript: plan?.keepsTranscript }
}

t.test("given an organization, when its call is answered, then only what it keeps is made", async (t) => {
  const check = async (name: string, arrange: (scene: Scene) => void, expected: Awaited<ReturnType<typeof toldIn>>) =>
    t.strictSame(await toldIn(arrange), expected, name)
  const keeps = (recordings: boolean, transcripts: boolean) => (scene: Scene) => void (scene.world.keeping = { recordings, transcripts })
  await check("both", keeps(true, true), { records: true, keepsTranscript: true })
  await check("no recordings", keeps(false, true), { records: false, keepsTranscript: true })
  await check("no transcripts", keeps(true, false), { records: true, keepsTranscript: false })
  await check("neither", keeps(false, false), { records: false, keepsTranscript: false })
  await check("an operator who records nothing", (scene) => void (scene.recordings = "off"), { records: false, keepsTranscript: true })
})
