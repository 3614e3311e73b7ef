/** Callees who heard nothing of what was to be said to them: the run, the metrics and the campaign's log say so. */
import { Effect, Layer } from "effect"
import t, { type Test } from "tap"
import type { TrunkEvent } from "#core/provider/TrunkEvent.ts"
import { SpeechNotMade } from "#runtime/voice/SpeechThread.ts"
import { TtsError } from "#runtime/voice/Tts.ts"
import { VoiceAgent } from "#runtime/voice/VoiceAgent.ts"
import { afterwards, campaign, fast, play as playCampaign, steps as inOrder, wait as pass } from "#test/support/campaignScene.ts"
import { answered, hungUp, play, type Scene, steps, wait } from "#test/support/callScene.ts"
import { given, rang } from "#test/support/callTable.ts"
import { campaignId, type World } from "#test/support/fakes.ts"

/** Plays a call that is answered after a second, and compares whether its greeting counts as missed. */
const check = async (
  t: Test,
  name: string,
  firstAudioAfter: number | undefined,
  act: (scene: Scene) => Effect.Effect<unknown>,
  isMissed: boolean,
  { end = {}, world = {} }: { readonly end?: object; readonly world?: Partial<World> } = {}
) => {
  const told = await play(given({ firstAudioAfter, world }), (scene) =>
    steps(scene.says(rang), wait("1 second"), act(scene), wait("10 seconds"))
  )
  const [recorded] = told.world.ends
  const tags = recorded?.record.gatheredContext["call_tags"]
  const events = JSON.stringify(recorded?.record.logs["realtime_feedback_events"])
  const seen = [told.missed.length, Array.isArray(tags) && tags.includes("greeting_missed"), events.includes("greeting_missed")]
  t.strictSame(seen, [isMissed ? 1 : 0, isMissed, isMissed], name)
  t.match({ outcome: recorded?.outcome, gathered: recorded?.record.gatheredContext }, end, name)
}
const ends = ({ says }: Scene) => says(hungUp("normal_clearing"))

t.test("given a callee who has answered after a second, then the greeting counts as missed", async (t) => {
  const talk = (millis: number) => (scene: Scene) => steps(scene.says(answered), wait(millis), ends(scene))
  await check(t, "when they hear nothing for two seconds", undefined, talk(2000), true)
  await check(t, "not when they have hung up before", undefined, talk(1900), false)
  await check(t, "when they hear it later than that", 2100, talk(9000), true)
  await check(t, "not when it starts in time", 1900, talk(9000), false)
  const data = { name: "Start", prompt: "Greet.", greeting_type: "text", greeting: "Hello" }
  const definition = { nodes: [{ id: "1", type: "startCall", position: { x: 0, y: 0 }, data }], edges: [] }
  await check(t, "when there is no audio at all", 0, talk(9000), true, { world: { definition, media: Effect.never } })
  await check(t, "not by a busy callee", 0, ({ says }) => says(hungUp("user_busy")), false)
})

t.test("given a call that the provider's side handles first, then the agent speaks once it is handed over, and not before", async (t) => {
  const elsewhere: TrunkEvent = { _tag: "Answered", isElsewhere: true }
  const found: TrunkEvent = { _tag: "VariablesSet", values: { AMDSTATUS: "HUMAN" } }
  const handedOver = (name: string, outcome: string, act: (scene: Scene) => Effect.Effect<unknown>, end: object = {}) =>
    check(t, name, 100, (scene) => steps(scene.says(elsewhere), act(scene)), false, { end: { outcome, ...end } })
  await handedOver(
    "handed over later than audio may take: its greeting is not missed, and the run has what was found",
    "answered",
    (scene) => steps(wait("40 seconds"), scene.says(found), scene.says(answered), wait("5 seconds"), ends(scene)),
    { gathered: { AMDSTATUS: "HUMAN" } }
  )
  const repeats = (scene: Scene) => steps(wait("5 seconds"), scene.says(answered), scene.says(elsewhere), wait("5 seconds"), ends(scene))
  await handedOver("its first report is repeated late", "answered", repeats)
  await handedOver("never handed over", "answered", (scene) => steps(wait("9 seconds"), ends(scene)))
  const isMachine = ({ says }: Scene) => steps(wait("3 seconds"), says({ _tag: "HungUp", cause: "machine_detected" }))
  await handedOver("never handed over, for it was a machine", "voicemail", isMachine)
})

t.test("given many callees who hear nothing, then the campaign's log says how many, once in a while", async (t) => {
  const { details } = await playCampaign(campaign(2, { ...fast, maxConcurrency: 1 }), ({ inboxes }) => {
    const missed = (count: number) => afterwards(() => Array.from({ length: count }, () => inboxes.watcher(campaignId).greetingMissed?.()))
    const turn = afterwards(() => inboxes.find(campaignId)?.wake())
    return inOrder(pass("1 second"), missed(1), missed(5), pass("30 seconds"), turn, missed(3), pass("31 seconds"), turn)
  })
  t.strictSame(details, [{ calls: 1 }, { calls: 8 }])
})

t.test("given greetings that cannot be made in time, when they can again, then the campaign continues", async (t) => {
  let isCrowded = true
  const voice = Layer.effect(
    VoiceAgent,
    VoiceAgent.use((none) => Effect.succeed({ ...none, isCrowdedBy: () => isCrowded }))
  ).pipe(Layer.provide(VoiceAgent.layerNone))
  const isFree = afterwards(() => void (isCrowded = false))
  const { at } = await playCampaign(campaign(1, fast), () => inOrder(pass("5 seconds"), isFree, pass("1 second")), voice)
  t.equal(at.length, 1)
  t.ok((at[0] ?? 0) >= 5000 && (at[0] ?? 0) <= 5200, `${at}`)
})

t.test("errors of speech say what they were, also in the log", async (t) => {
  const errors = [
    ...(["Busy", "TimedOut", "Crashed", "Unreachable", "Refused"] as const).map((reason) => new TtsError({ reason })),
    ...(["Busy", "TimedOut", "Crashed", "Closed"] as const).map((reason) => new SpeechNotMade({ reason }))
  ]
  t.ok(errors.every(({ message }) => message.length > 10))
})
