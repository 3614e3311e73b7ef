/** Callees who heard nothing of what was to be said to them: the run, the metrics and the campaign's log say so. */
import { Effect, Layer } from "effect"
import t from "tap"
import { SpeechNotMade } from "#runtime/voice/SpeechThread.ts"
import { TtsError } from "#runtime/voice/Tts.ts"
import { VoiceAgent } from "#runtime/voice/VoiceAgent.ts"
import { afterwards, campaign, fast, play as playCampaign, steps as inOrder, wait as pass } from "#test/support/campaignScene.ts"
import { answered, hungUp, nothing, play, type Scene, steps, wait } from "#test/support/callScene.ts"
import { campaignId } from "#test/support/fakes.ts"

const talk =
  (millis: number) =>
  ({ says }: Scene) =>
    steps(says({ _tag: "Rang" }), wait("1 second"), says(answered), wait(millis), says(hungUp("normal_clearing")), wait("10 seconds"))

const check = async (name: string, arrange: (scene: Scene) => void, millis: number, isMissed: boolean) => {
  const { missed, world } = await play(arrange, talk(millis))
  const [end] = world.ends
  const tags = end?.record.gatheredContext["call_tags"]
  const told = JSON.stringify(end?.record.logs["realtime_feedback_events"]).includes("greeting_missed")
  t.strictSame([missed.length, Array.isArray(tags) && tags.includes("greeting_missed"), told], [isMissed ? 1 : 0, isMissed, isMissed], name)
}
const heardAfter = (millis: number | undefined) => (scene: Scene) => {
  scene.firstAudioAfter = millis
}

t.test("given a callee who has answered after a second, then the greeting counts as missed", async (t) => {
  await check("when they hear nothing for two seconds", heardAfter(undefined), 2000, true)
  await check("not when they have hung up before", heardAfter(undefined), 1900, false)
  await check("when they hear it later than that", heardAfter(2100), 9000, true)
  await check("not when it starts in time", heardAfter(1900), 9000, false)
  await check(
    "when there is no audio at all",
    (scene) => {
      const data = { name: "Start", prompt: "Greet.", greeting_type: "text", greeting: "Hello" }
      scene.world.definition = { nodes: [{ id: "1", type: "startCall", position: { x: 0, y: 0 }, data }], edges: [] }
      scene.world.media = Effect.never
    },
    9000,
    true
  )
  t.equal((await play(nothing, ({ says }) => steps(says(hungUp("user_busy"))))).missed.length, 0, "a busy callee misses nothing")
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
  const { at } = await playCampaign(
    campaign(1, fast),
    () =>
      inOrder(
        pass("5 seconds"),
        afterwards(() => void (isCrowded = false)),
        pass("1 second")
      ),
    voice
  )
  t.strictSame(at.length, 1)
  t.ok((at[0] ?? 0) >= 5000 && (at[0] ?? 0) <= 5200, `${at}`)
})

t.test("errors of speech say what they were, also in the log", async (t) => {
  const errors = [
    ...(["Busy", "TimedOut", "Crashed", "Unreachable", "Refused"] as const).map((reason) => new TtsError({ reason })),
    ...(["Busy", "TimedOut", "Crashed", "Closed"] as const).map((reason) => new SpeechNotMade({ reason }))
  ]
  t.ok(errors.every(({ message }) => message.length > 10))
})
