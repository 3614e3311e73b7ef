/** Which calls hold a conversation, what the conversation can do with its call, and what happens to the call when it is over. */
import { Effect, Fiber, Option } from "effect"
import t from "tap"
import type { ToolAnswer } from "#core/agent/conversation/ConversationState.ts"
import { CallEvent } from "#core/call/Call.ts"
import { conversationReport } from "#core/conversation/conversationReport.ts"
import * as SteadyTime from "#core/SteadyTime.ts"
import { CallSupervisor } from "#runtime/call/CallSupervisor.ts"
import type { LiveCall } from "#runtime/call/LiveCall.ts"
import { answered, callId, hungUp, play, type Scene, settled, steps, wait } from "#test/support/callScene.ts"
import { detected, given, notes, sets } from "#test/support/callTable.ts"
import { failing, type World } from "#test/support/fakes.ts"
import { scriptedRecognizer } from "#test/support/scriptedRecognizer.ts"
import { deafServices } from "#test/support/services.ts"
import { definition } from "#test/support/talkScript.ts"

const services = { ...deafServices, model: Effect.die("no model"), hearing: scriptedRecognizer() }
const configurations = { dictionary: "Ada, ", embedded: { edges: { "start-ask": { phrases: ["by all means"] } } } }
/** An agent with a recognizer and without a greeting. */
const hears = (world: Partial<World> = {}, recordings: Scene["recordings"] = "off") =>
  given({ context: { first_name: "Ada" }, recordings, world: { definition: definition(), services, ...world } })
const concludes = (scene: Scene, isVoicemail = false) => {
  const gathered = { wish: "a boat", call_disposition: "sold", call_tags: ["sold"] }
  const conversation = { ...conversationReport([{ kind: "gathered", content: gathered }]), transcriptKey: "transcripts/1.txt" }
  return Effect.andThen(
    sets(scene, { conversation }),
    Effect.sync(() => void (scene.isVoicemail = isVoicemail))
  )
}
const hangupsIn = (log: ReadonlyArray<string>) => log.filter((entry) => entry.startsWith("hangup"))

t.test("given what an agent's author expects, then recognizers are told, whichever model answers", async (t) => {
  const { plan } = await play(hears({ configurations }), (scene) => steps(scene.says(answered), scene.says(hungUp("normal_clearing"))))
  const conversation = plan?.conversation
  const hints = conversation?.hintsAt(conversation.plan.graph.start)
  t.strictSame(hints, { language: "en-US", keyterms: ["Ada"], phrases: ["by all means"], grammar: undefined })
})

t.test("given an agent with a recognizer, when its call is answered, then it holds a conversation, which ends the call once", async (t) => {
  let context: unknown
  const { log, plan, world } = await play(hears(), (scene) =>
    steps(
      scene.says(answered),
      concludes(scene),
      Effect.sync(() => void (context = scene.plan?.conversation.known)),
      Effect.sync(() => scene.hears({ _tag: "EndWanted", cause: "agent_hangup" })),
      wait(0),
      scene.says(hungUp("normal_clearing")),
      wait("1 minute")
    )
  )
  t.equal(plan?.conversation.plan.graph.start.id, "start")
  t.match(context, { first_name: "Ada" })
  t.equal(log.filter((entry) => entry === "voice").length, 1, "it needs audio, although it has no greeting and is not recorded")
  t.strictSame(hangupsIn(log), ["hangup agent_hangup"])
  t.equal(world.ends.length, 1)
  t.match(world.ends[0], {
    outcome: "answered",
    record: {
      gatheredContext: { wish: "a boat", call_disposition: "sold", mapped_call_disposition: "sold", call_tags: ["sold"], call_id: callId },
      transcriptKey: "transcripts/1.txt"
    }
  })
})

t.test("given a conversation with a machine, then the call has reached a voicemail, whoever ends it", async (t) => {
  const { world } = await play(hears(), (scene) =>
    steps(scene.says(answered), concludes(scene, true), scene.says(hungUp("normal_clearing")), wait("1 minute"))
  )
  t.match(world.ends, [{ outcome: "voicemail", record: { gatheredContext: { call_disposition: "sold" } } }])
})

t.test("given a provider that detects machines, then the conversation decides what follows", async (t) => {
  const { log, hangups } = await play(hears({ configurations: { voicemail_detection: { enabled: true } } }), ({ says }) =>
    steps(says(answered), says(detected), wait("1 second"), says(hungUp("normal_clearing")))
  )
  t.ok(log.includes("told of a machine"))
  t.notOk(log.includes("hangup machine_detected"))
  t.strictSame(hangups, ["normal_clearing"], "and it is told why the call has ended")
})

t.test("given a call that has lasted for as long as it may, then the conversation has had time to end it", async (t) => {
  const { hangups, log } = await play(hears({ configurations: { max_call_duration: 60 } }), (scene) =>
    steps(scene.says(answered), wait("70 seconds"), notes(scene, "after its time"), wait("30 seconds"))
  )
  t.ok(log.indexOf("hangup duration_exceeded") > log.indexOf("after its time"), "it is still ended")
  t.strictSame(hangups, ["duration_exceeded"])
})

t.test("given an agent without a recognizer, a graph without a start, or no audio, then nobody listens", async (t) => {
  const without = async (world: Partial<World>) => {
    const { log, plan } = await play(hears(world), (scene) =>
      steps(scene.says(answered), sets(scene, { lookup: Effect.succeed("up") }), wait("12 seconds"))
    )
    return [log.includes("voice"), plan?.conversation.hearing, hangupsIn(log)]
  }
  t.strictSame(await without({ services: { ...services, hearing: undefined } }), [false, undefined, []])
  t.strictSame(await without({ definition: {} }), [false, undefined, []])
  t.strictSame(await without({ media: failing }), [false, undefined, ["hangup media_failure"]], "the call ends as if without one")
})

t.test("given a defect while the audio is connected, then the call ends as if it had none", async (t) => {
  const onMedia = () => {
    throw new Error("a defect")
  }
  const { log } = await play(given({ onMedia, world: { definition: definition(), services } }), (scene) =>
    steps(scene.says(answered), sets(scene, { lookup: Effect.succeed("up") }), wait("12 seconds"))
  )
  t.strictSame(hangupsIn(log), ["hangup media_failure"])
})

t.test("given an organization, when its call is answered, then only what it keeps is made", async (t) => {
  const kept = async (recordings: boolean, transcripts: boolean, operator: Scene["recordings"] = "on") => {
    const { plan } = await play(hears({ keeping: { recordings, transcripts } }, operator), ({ says }) => steps(says(answered), wait(0)))
    return [plan?.record, plan?.keepsTranscript]
  }
  for (const recordings of [true, false])
    for (const transcripts of [true, false])
      t.strictSame(await kept(recordings, transcripts), [recordings, transcripts], `recordings ${recordings}, transcripts ${transcripts}`)
  t.strictSame(await kept(true, true, "off"), [false, true], "an operator who records nothing")
})

const transfers: Partial<World> = { manifest: { transfers: ["attended"] }, transfers: true }
/** The outcome of a transfer, once `then` has happened. */
const transferred = async (then: (scene: Scene) => Effect.Effect<unknown>, destination = "+1 555 0100") => {
  let outcome: "transferred" | ToolAnswer | undefined
  const { log } = await play(hears(transfers), (scene) =>
    Effect.gen(function* () {
      yield* scene.says(answered)
      const asked = yield* Effect.forkChild(scene.verbs?.transfer(destination, 20) ?? Effect.die("no verbs"))
      // Waits for the account's rate.
      yield* wait("1 second")
      yield* then(scene)
      yield* settled
      outcome = (yield* Effect.timeoutOption(Fiber.join(asked), 0)).pipe(Option.getOrUndefined)
    })
  )
  return { outcome, dialed: log.filter((entry) => entry.startsWith("transfer")) }
}
const told = (answered: boolean) => (scene: Scene) =>
  scene.says(answered ? { _tag: "Transferred", transfer: 1, answered } : { _tag: "Transferred", transfer: 1, answered, cause: "user_busy" })
const dialed = ["transfer attended +15550100"]
const nobody = { _tag: "Failed", reason: "Nobody took the call there." }

t.test("given a conversation that transfers its call, then it is told the outcome", async (t) => {
  t.strictSame(await transferred(told(true)), { outcome: "transferred", dialed })
  t.strictSame(await transferred(told(false)), { outcome: nobody, dialed })
  t.strictSame(await transferred(() => Effect.void), { outcome: undefined, dialed }, "it waits for that")
  t.strictSame(await transferred(({ says }) => says(hungUp("normal_clearing"))), { outcome: nobody, dialed }, "or for the end of the call")
  const refused = await transferred(() => Effect.void, "sip:alice@example.com")
  t.strictSame(refused, { outcome: { _tag: "Failed", reason: "The destination is no number." }, dialed: [] })
})

/** The audio of a call comes back, as from a carrier that reconnects. */
const comesBack = Effect.gen(function* () {
  const at = yield* SteadyTime.now
  // The cast holds because what the supervisor finds is the call itself.
  const call = (yield* CallSupervisor).find(callId) as LiveCall | undefined
  call?.tell(CallEvent.cases.MediaBack.make({ at }))
})

t.test("given a callee who comes back when the conversation is over, then the call is hung up", async (t) => {
  const { log } = await play(hears(transfers), (scene) =>
    steps(
      scene.says(answered),
      Effect.forkChild(Effect.suspend(() => scene.verbs?.transfer("15550100", 20) ?? Effect.die("no verbs"))),
      settled,
      told(true)(scene),
      concludes(scene),
      comesBack,
      settled
    )
  )
  t.strictSame(hangupsIn(log), ["hangup agent_hangup"])
})
