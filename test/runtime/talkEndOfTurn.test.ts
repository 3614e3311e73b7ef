/** End-of-turn models that an agent has chosen: what they are told about a pause, and what happens if they fail. */
import { Effect, type Scope } from "effect"
import { mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import t from "tap"
import { decode, encode } from "#core/audio/Mulaw.ts"
import type { EndOfTurn, Pause } from "#core/model/EndOfTurn.ts"
import { ModelError } from "#core/model/LanguageModel.ts"
import { Files } from "#runtime/storage/Files.ts"
import type { VoiceAgent } from "#runtime/voice/VoiceAgent.ts"
import { call, planOf, type ScriptedModel, text } from "#test/support/talk.ts"
import { calleeSays, talking } from "#test/support/talkScene.ts"
import { definition } from "#test/support/talkScript.ts"
import { callingWith, isNoise, type Loopback, loopback } from "#test/support/voiceScene.ts"

const folder = await mkdtemp(join(tmpdir(), "talk-end-of-turn-"))
t.teardown(() => rm(folder, { recursive: true }))
const calling = callingWith(Files.layerLocal(folder))

const play = <A>(use: (line: Loopback) => Effect.Effect<A, unknown, VoiceAgent | Scope.Scope>) => {
  const line = loopback(2)
  return calling(line, use(line), {})
}

const greeting = "Good morning to you and to everybody in your house."
const model: ScriptedModel = ({ messages, node }) =>
  messages.at(-1)?._tag === "User" ? [call(node.id === "start" ? "yes" : "done")] : [text(`This is ${node.id}, and it asks something.`)]

const sentence = "Yes, I would like that."
const turns = 2

/** The callee says the sentence after the greeting, and again after the next line. */
const conversing = (probability: EndOfTurn["probability"]) =>
  play((line) =>
    Effect.gen(function* () {
      const plan = planOf(definition({ greeting }), { max_user_idle_timeout: 600 })
      const endOfTurn = Effect.succeed<EndOfTurn>({ provider: "acme", model: "ears", probability })
      const scene = yield* talking(line, { plan, script: model, endOfTurn })
      const isQuiet = () => line.heard.length > 25 && line.heard.slice(-25).every(isNoise)
      for (let turn = 1; turn <= turns; turn++) {
        const before = line.heard.length
        yield* scene.until("question", () => line.heard.slice(before).some((frame) => !isNoise(frame)))
        yield* scene.until("end of the question", isQuiet)
        const asked = scene.requests.length
        yield* scene.says(sentence)
        yield* scene.until("answer", () => scene.requests.length > asked)
      }
      return scene
    })
  )

const includes = (whole: Int16Array, part: Int16Array): boolean => {
  for (let from = 0; from + part.length <= whole.length; from++) if (part.every((sample, at) => sample === whole[from + at])) return true
  return false
}

t.test("given a model that uses the audio, then it gets the audio of the turn, and none of the turns before", async (t) => {
  const pauses: Array<Pause> = []
  await conversing((pause) =>
    Effect.sync(() => {
      pauses.push(pause)
      return 1
    })
  )
  const said = decode(encode(Int16Array.from(calleeSays(sentence) as ArrayLike<number>, (value) => Math.round(value))))
  t.ok(pauses.length >= turns)
  for (const { audio, text } of pauses) {
    t.equal(text, sentence)
    t.ok(includes(audio, said.subarray(said.length / 2, said.length / 2 + 800)), "the middle of the sentence")
    t.ok(audio.length < said.length + 8000, `${audio.length} samples of ${said.length}`)
  }
})

t.test("given a model that fails, or throws, then the rules judge instead, and it is not asked again", async (t) => {
  const error = new ModelError({ reason: "broken", isRetryable: true, message: "gone" })
  const failures: ReadonlyArray<readonly [name: string, fail: () => Effect.Effect<number, ModelError>]> = [
    ["fails", () => Effect.fail(error)],
    ["dies", () => Effect.die(new Error("of the model's own"))],
    [
      "throws",
      () => {
        throw new Error("of the model's own")
      }
    ]
  ]
  for (const [name, fail] of failures) {
    let asked = 0
    const scene = await conversing(() => {
      asked++
      return fail()
    })
    t.equal(asked, 1, name)
    t.ok(scene.requests.length >= turns, name)
  }
})
