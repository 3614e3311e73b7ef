/** The pre-call fetch: when it is made, how long the callee waits for it, and what happens to the call without it. */
import { Deferred, Effect } from "effect"
import t from "tap"
import type { JsonObject } from "#core/Json.ts"
import * as SteadyTime from "#core/SteadyTime.ts"
import { ContextFetcher, NothingFetched } from "#runtime/call/ContextFetcher.ts"
import { answered, callId, hungUp, nothing, play, Scene, settled, steps, wait } from "#test/support/callScene.ts"
import { layerOf, refusal } from "#test/support/fakes.ts"
import { type Fetcher, fetcherOf } from "#test/support/contextFetcher.ts"
import { untilTrue } from "#test/support/engine.ts"
import { adoptCall } from "#test/support/leftCall.ts"
import { run } from "#test/support/run.ts"
import { scriptedRecognizer } from "#test/support/scriptedRecognizer.ts"
import { isNoise } from "#test/support/voiceScene.ts"
import { notedTts, voiceIn } from "./callVoice.ts"

const fetching = {
  name: "Start",
  prompt: "Greet.",
  greeting: "Hello {{first_name}} of {{city}}",
  pre_call_fetch_mode: "outbound",
  pre_call_fetch_url: "https://crm.example/contacts"
}
const definition = { nodes: [{ id: "1", type: "startCall", data: fetching }], edges: [] }

/** A call whose fetch has this outcome. */
const fetches =
  (outcome: Effect.Effect<JsonObject, NothingFetched>, more: (scene: Scene) => void = nothing) =>
  (scene: Scene): void => {
    const { log } = scene.world
    scene.world.definition = definition
    scene.context = { first_name: "Bob", city: "Town" }
    scene.world.fetch = (question) =>
      Effect.suspend(() => {
        const { agent_id, from_number, to_number } = JSON.parse(question.body).call_inbound
        log.push(`fetch ${question.organizationId} ${agent_id} ${from_number}>${to_number}`)
        return outcome
      }).pipe(
        Effect.tap(() => Effect.sync(() => log.push("fetched"))),
        Effect.onInterrupt(() => Effect.sync(() => log.push("fetch interrupted")))
      )
    more(scene)
  }
const ada = { first_name: "Ada" }
const asked = "fetch 1 1 >+15551"
const begun = ["sent", "originate +15551", asked]
const ending = ["line free, 0 slots", "finish", "ended answered"]
/** What the run says about problems. */
const problemsOf = (scene: Pick<Scene, "world">) => scene.world.ends.map(({ record }) => record.logs["realtime_feedback_events"])
const fetchedIn = ({ world }: Pick<Scene, "world">) => world.ends.map(({ fetchedContext }) => fetchedContext)
const talk = ({ says }: Pick<Scene, "says">) => steps(says(answered), wait("30 seconds"), says(hungUp("normal_clearing")))

t.test("given a fetch that is answered before the callee answers, then the call opens with the data, and its run has it", async (t) => {
  const played = await play(fetches(Effect.delay(Effect.succeed(ada), "2 seconds")), (scene) =>
    steps(scene.says({ _tag: "Rang" }), wait("2 seconds"), talk(scene))
  )
  t.strictSame(played.log, [...begun, "fetched", "prepared", "answered", "media", "voice", "says Hello Ada of Town", ...ending])
  t.strictSame(fetchedIn(played), [ada])
  t.strictSame(problemsOf(played), [[]])
})

t.test("given a caller ID, then the request contains it", async (t) => {
  const { log } = await play(
    fetches(Effect.succeed(ada), ({ world }) => {
      if (world.trunk !== undefined) world.trunk = { ...world.trunk, callerIds: { all: ["+15550100999"], preferred: undefined } }
    }),
    () => settled
  )
  t.ok(log.includes("fetch 1 1 +15550100999>+15551"), log.join())
})

t.test("given a callee who answers before the fetch is done, when it is done, then they are greeted with its data", async (t) => {
  const { log } = await play(fetches(Effect.delay(Effect.succeed(ada), "9 seconds")), (scene) => steps(wait("1 second"), talk(scene)))
  t.strictSame(log.slice(0, 7), [...begun, "answered", "media", "voice", "fetched"])
  t.strictSame(log.slice(7), ["says Hello Ada of Town", ...ending], "at once")
})

t.test("given a fetch that returns a greeting of its own, then that one is spoken, with the fetched data", async (t) => {
  const greeting_override = { type: "text", text: "Dear {{first_name}}, {{caller_number | nobody}}" }
  const { log } = await play(fetches(Effect.succeed({ ...ada, greeting_override })), talk)
  t.ok(log.includes("says Dear Ada, nobody"), log.join())
})

t.test("given a fetch that fails, then the call continues with what is known, and its run says why", async (t) => {
  const played = await play(fetches(Effect.delay(Effect.fail(new NothingFetched({ reason: "status_500" })), "3 seconds")), talk)
  t.ok(played.log.includes("says Hello Bob of Town"), played.log.join())
  t.strictSame(problemsOf(played), [
    [
      {
        type: "rtf-pipeline-error",
        payload: { error: "Nothing was fetched before the call: status_500", fatal: false, processor: "pre_call_fetch" },
        timestamp: "1970-01-01T00:00:03.000Z",
        turn: 0
      }
    ]
  ])
  t.strictSame(fetchedIn(played), [undefined])
  const broken = await play(fetches(Effect.die(new Error("a fault"))), talk)
  t.ok(broken.log.includes("says Hello Bob of Town"), "a fault of ours is no different")
  t.match(problemsOf(broken), [[{ payload: { error: /internal_error$/ } }]])
})

t.test("given a fetch that failed before a callee did not answer, then the run says so too", async (t) => {
  const played = await play(fetches(Effect.fail(new NothingFetched({ reason: "timeout" }))), ({ says }) => says(hungUp("no_answer")))
  t.match(problemsOf(played), [[{ payload: { error: /timeout$/ } }]])
})

t.test("given a call that fails during its fetch, then the fetch is interrupted", async (t) => {
  const check = async (name: string, act: (scene: Scene) => Effect.Effect<unknown>, rest: ReadonlyArray<string>) => {
    const played = await play(fetches(Effect.never), act)
    t.strictSame(played.log, [...begun, ...rest], name)
    t.strictSame(problemsOf(played).flat(), [], `${name}: that is no problem`)
  }
  await check("busy", ({ says }) => says(hungUp("user_busy")), ["fetch interrupted", "line free, 0 slots", "ended busy"])
  await check(
    "hung up before the answer",
    ({ says }) => steps(says({ _tag: "Detected", who: "machine" }), wait("1 second"), says(hungUp("no_answer"))),
    ["fetch interrupted", "hangup machine_detected", "line free, 0 slots", "ended voicemail"]
  )
  await check(
    "hung up by the callee while he waited",
    ({ says }) => steps(says(answered), wait("1 second"), says(hungUp("normal_clearing"))),
    ["answered", "media", "voice", "fetch interrupted", ...ending]
  )
})

t.test("given a call that does not take place, then nothing is fetched for it, or no longer", async (t) => {
  const check = async (
    name: string,
    outcome: Parameters<typeof fetches>[0],
    arrange: (scene: Scene) => void,
    act: (scene: Scene) => Effect.Effect<unknown>,
    expected: ReadonlyArray<string>
  ) => t.strictSame((await play(fetches(outcome, arrange), act)).log, [...expected, "void", "line free, 0 slots"], name)
  const forbid = (scene: Scene) => void (scene.permitted = () => false)
  await check("it may not leave", Effect.succeed(ada), forbid, () => settled, [])
  await check(
    "it is no longer allowed to leave when it could",
    Effect.succeed(ada),
    ({ world }) => void (world.marking = Effect.sleep("2 seconds")),
    (scene) =>
      steps(
        wait("1 second"),
        Effect.sync(() => forbid(scene)),
        wait("2 seconds")
      ),
    ["sent"]
  )
  await check(
    "the provider refuses it",
    Effect.never,
    ({ world }) => void (world.originate = Effect.delay(refusal("unreachable"), "1 second")),
    () => wait("2 seconds"),
    [...begun, "fetch interrupted"]
  )
})

t.test("given a call that a former process left behind, when it is answered, then it opens with the data in its run", async (t) => {
  const scene = new Scene()
  const { says, world } = scene
  fetches(Effect.never)(scene)
  world.services = { ...world.services, hearing: scriptedRecognizer() }
  world.attempts.set(callId, { contact: undefined, dialEpoch: 1, state: "sent" })
  world.lookup = Effect.succeed("ringing")
  await run(
    Effect.gen(function* () {
      yield* adoptCall(scene, yield* SteadyTime.now, "none")
      yield* steps(settled, says(answered), says(hungUp("normal_clearing")))
    }).pipe(Effect.provide(layerOf(world, { DRAIN: "0", RECORDINGS: "on" }, scene.voice)))
  )
  t.strictSame(world.log, ["look", "prepared", "answered", "media", "voice", "finish", "ended answered"])
  t.strictSame([scene.greeting, scene.plan?.conversation.later], ["Hello Bob of Town", undefined])
  t.ok(scene.plan?.conversation.hearing, "then its conversation begins, because nobody has talked to the callee yet")
})

t.test("given a server that does not answer, when the callee does, then they wait at most ten seconds from the dial", async (t) => {
  const found = { credentialType: "none" as const, data: {}, allowedHosts: [new URL(fetching.pre_call_fetch_url).host] }
  const check = async (name: string, fetcher: Fetcher, pre_call_fetch_credential_uuid: string | undefined) => {
    const played = await play(
      (scene) => {
        fetches(Effect.succeed(ada))(scene)
        const data = { ...fetching, pre_call_fetch_credential_uuid }
        scene.world.definition = { nodes: [{ id: "1", type: "startCall", data }], edges: [] }
        scene.world.fetch = (asked) => ContextFetcher.use((_) => _.fetch(asked)).pipe(Effect.provide(fetcherOf(fetcher)))
      },
      ({ says, world }) =>
        steps(
          wait("4 seconds"),
          says(answered),
          wait("5900 millis"),
          Effect.sync(() => world.log.push("9.9 seconds")),
          wait("100 millis"),
          Effect.sync(() => world.log.push("10 seconds")),
          says(hungUp("normal_clearing"))
        )
    )
    const said = played.log.filter((entry) => /says|seconds/.test(entry))
    t.strictSame(said, ["9.9 seconds", "says Hello Bob of Town", "10 seconds"], name)
    t.match(problemsOf(played), [[{ payload: { error: /: timeout$/ }, timestamp: "1970-01-01T00:00:10.000Z" }]])
  }
  await check("it hangs", { send: () => Effect.never }, undefined)
  const slow = { credential: Effect.delay(Effect.succeed(found), "6 seconds"), send: () => Effect.never }
  await check("the credential takes its part of them", slow, "c-1")
})

t.test("given a callee who has answered, when the greeting is not known yet, then they hear noise, and then the greeting", async (t) => {
  const { attached } = await voiceIn(t)
  const { asked, tts } = notedTts()
  const known = Deferred.makeUnsafe<JsonObject>()
  const opening = { greeting: "Hello {{first_name}}", later: Deferred.await(known) }
  const { events, kept, line, report } = await attached({ opening, plan: { detectMachine: false }, voices: { tts } }, function* (given) {
    const { line, session } = given
    line.talk(50, 9000)
    session.dtmf("1", 1000)
    t.ok(line.sent.length === 50 && line.sent.every(isNoise), "noise")
    yield* Deferred.succeed(known, ada)
    yield* Effect.promise(() => untilTrue("greeting", () => asked.length > 0))
    yield* Effect.yieldNow
    line.talk(30)
  })
  t.strictSame(line.sent.slice(50).map(isNoise).indexOf(true), 10, "two words")
  t.strictSame(asked, ["Hello Ada"])
  t.strictSame(events, [])
  t.match(kept.transcript, /assistant: Hello Ada\n/)
  t.equal(report.recordingKey, "recordings/7.wav", "it is recorded from the answer on")
  const first = kept.events.find(({ payload, type }) => type === "rtf-stage-metric" && payload["stage"] === undefined)
  t.ok(Number(first?.payload["ttfb_seconds"]) >= 1, "the callee waited so long")
})
