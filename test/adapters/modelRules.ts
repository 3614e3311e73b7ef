/** What holds for every hosted language model: which conversations it accepts, what its errors reveal, and how long it is waited for. */
import type { Test } from "tap"
import type { ModelError, ModelMessage, ModelRequest } from "#core/model/LanguageModel.ts"
import type { RawReply } from "#test/emulators/shared/ModelEmulator.ts"
import { type Answered, aRequest, booked, done, heard, type ModelScene, said } from "./modelScene.ts"

/** A service's `answerTo`, as far as its replies do not depend on its protocol. */
type AnswerTo = (
  t: Test,
  reply: RawReply | { readonly text: ReadonlyArray<string> },
  request?: ModelRequest,
  scene?: ModelScene
) => Promise<Answered>

const conversations: Readonly<Record<string, ReadonlyArray<ModelMessage>>> = {
  "nothing was said": [],
  "the agent alone has spoken": [said("Hello.")],
  "the callee said nothing": [said("Hello."), heard(" ")],
  "the agent speaks before the result": [said("One moment.", booked), said("Still there?"), heard("Yes"), done],
  "a result has lost its call": [done, heard("Hello")],
  "the call is the last": [heard("Hello"), said("", booked)],
  "another model made the calls": [heard("Hello"), said("", booked, { ...booked, id: "c2" }), done]
}

/** Whatever was said before, and however the model is configured, its service accepts the request. */
export const acceptsAnyConversation = async (
  t: Test,
  answerTo: AnswerTo,
  configs: ReadonlyArray<NonNullable<ModelScene["config"]>> = [{}]
): Promise<void> => {
  for (const [what, messages] of Object.entries(conversations))
    for (const more of [{}, { tools: [], purpose: "check_in" } as const, { instructions: "" }])
      for (const config of configs)
        t.equal((await answerTo(t, { text: ["Yes."] }, { ...aRequest, messages, ...more }, { config })).error, undefined, what)
}

/** Must never be in an error: what callees say, and their numbers. */
const canaries = ["Quetzalcoatl", "canary_word", "15551234567"]
export const [canary = "", canaryWord = ""] = canaries
/** What a service may tell about a request, with all that must not be repeated. */
export const toldOf = (apiKey: string): string => `The message "${canary}" of ${apiKey} is bad: +15551234567`

export type Failing = readonly [what: string, reply: RawReply, error: Partial<ModelError>]

/** The error says why, and nothing of what was sent; neither a call nor an end comes with it. */
export const failsAsItSays = async (t: Test, answerTo: AnswerTo, apiKey: string, failing: ReadonlyArray<Failing>): Promise<void> => {
  const request: ModelRequest = { ...aRequest, messages: [heard(`${canary} ${canaryWord}`)] }
  for (const [what, reply, expected] of failing) {
    const { error, parts } = await answerTo(t, reply, request)
    t.match(error, expected, what)
    const words = JSON.stringify(error) ?? ""
    for (const secret of [apiKey, ...canaries]) t.notOk(words.includes(secret), `${what}: nothing of what was sent`)
    const isAnswered = parts.some(({ _tag }) => _tag === "Finished" || _tag === "ToolCall")
    t.notOk(isAnswered, `${what}: neither a call nor an end`)
  }
}

/** Checks that the reply is given up once it has taken longer than `limits`, because it did not do so in time. */
export const givesUp =
  (t: Test, answerTo: AnswerTo) =>
  async (what: string, reply: RawReply, limits: NonNullable<ModelScene["limits"]>, didNot: string): Promise<void> => {
    const { error } = await answerTo(t, reply, aRequest, { limits })
    t.match(error, { reason: "timeout", isRetryable: true, message: `the answer ${didNot} in time` }, what)
  }
export const never = new Promise(() => {})
